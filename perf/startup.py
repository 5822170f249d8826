"""Cold start: what ``select 1`` and ``select count(*) from t`` cost as a fresh process, and which modules they import.

``python perf/startup.py`` prints the import list with its cost and the CPU times; ``--check`` fails when a small query imports numpy or more modules
of the package than QUERIES allows (milliseconds are printed, never judged: they belong to the machine).
"""
from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

# Most modules of the package that a query may load (package files included).  The figures only fall.
QUERIES = {"select 1": 50, "select count(*) from t": 60}
PROBE = """
import sys, json
from sqlvec.cli.shell import main
status = main([sys.argv[1], sys.argv[2]])
sys.stdout.flush()
own = sorted(name for name in sys.modules if name.split('.')[0] == 'sqlvec')
print(json.dumps({'status': status, 'own': own, 'numpy': 'numpy' in sys.modules, 'all': len(sys.modules)}), file=sys.stderr)
"""


def cpu_of(command: list[str], runs: int) -> float:
    """Least CPU seconds of several runs of a command."""
    best = float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def small_database(folder: str) -> str:
    """A file with one small table."""
    path = os.path.join(folder, "small.db")
    code = (
        "import sys, sqlvec\nc = sqlvec.connect(sys.argv[1])\nc.execute('create table t(a, b)')\n"
        "c.executemany('insert into t values(?, ?)', [(i, str(i)) for i in range(100)])\nc.commit()\n"
    )
    subprocess.run([sys.executable, "-c", code, path], check=True)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="exit 1 when a small query imports too much")
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        path = small_database(folder)
        script = os.path.join(os.path.dirname(sys.executable), "sqlvec")
        print(f"python -c pass: {cpu_of([sys.executable, '-c', 'pass'], arguments.runs) * 1000:.1f} ms CPU")
        for query, limit in QUERIES.items():
            answer = subprocess.run([sys.executable, "-c", PROBE, path, query], capture_output=True, text=True, check=True)
            found = json.loads(answer.stderr.strip().splitlines()[-1])
            print(f"{query}: {len(found['own'])} modules of the package, {found['all']} in all, numpy {'imported' if found['numpy'] else 'not imported'}")
            for command in ([script, path, query], [sys.executable, "-m", "sqlvec", path, query]):
                if os.path.exists(command[0]):
                    print(f"    {' '.join(os.path.basename(word) for word in command[:3])}: {cpu_of(command, arguments.runs) * 1000:.1f} ms CPU")
            failed |= found["numpy"] or len(found["own"]) > limit
            if not arguments.check:
                listing = subprocess.run([sys.executable, "-X", "importtime", "-m", "sqlvec", path, query], capture_output=True, text=True, check=True).stderr
                print("\n".join(line for line in listing.splitlines() if "sqlvec" in line))
    return int(failed and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
