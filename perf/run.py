"""A query set beside the real SQLite: ``python perf/run.py [--rows N] [--json FILE] [QUERY...]``.

Each query of ``perf/queries`` runs as a cold process of sqlvec and of the sqlite3 program on the same file; CPU seconds (user + system,
least of the runs), their ratio and whether the answers are equal are printed, as JSON with ``--json``.
A query file's first line ``-- data: NAME`` chooses the data set of perf/data.py.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import data

QUERIES = Path(__file__).parent / "queries"


def measure(command: list[str], runs: int) -> tuple[float, str]:
    """Least CPU seconds and the output of a command."""
    best, output = math.inf, ""
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best, output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("queries", nargs="*", help="names of query files without .sql; all by default")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", help="where data files are kept between runs (a temporary folder by default)")
    parser.add_argument("--json", help="write the figures to this file")
    arguments = parser.parse_args()
    oracle = shutil.which("sqlite3")
    if oracle is None:
        print("the sqlite3 program is needed beside sqlvec")
        return 2
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or temporary
        for path in sorted(QUERIES.glob("*.sql")):
            if arguments.queries and path.stem not in arguments.queries:
                continue
            sql = path.read_text(encoding="utf-8")
            first = sql.split("\n", 1)[0]
            name = first.removeprefix("-- data:").strip() if first.startswith("-- data:") else "sales"
            file = os.path.join(folder, f"{name}-{arguments.rows}.db")
            if not os.path.exists(file):
                data.make(name, arguments.rows, file)
            ours, answer = measure([sys.executable, "-m", "sqlvec", file, sql], arguments.runs)
            theirs, expected = measure([oracle, file, sql], arguments.runs)
            entry = {"query": path.stem, "sqlvec": round(ours, 4), "sqlite3": round(theirs, 4), "ratio": round(ours / max(theirs, 1e-4), 3),
                     "equal": expected == answer}
            results.append(entry)
            print(f"{path.stem:24} {ours:8.3f} s {theirs:8.3f} s  ratio {entry['ratio']:7.3f}  {'equal' if entry['equal'] else 'DIFFERENT'}")
    if results:
        mean = math.exp(sum(math.log(entry["ratio"]) for entry in results) / len(results))
        print(f"geometric mean of the ratios: {mean:.3f}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return int(not all(entry["equal"] for entry in results))


if __name__ == "__main__":
    sys.exit(main())
