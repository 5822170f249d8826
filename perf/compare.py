"""The query set beside the real SQLite: ``python perf/compare.py [--data sales] [--rows N] [--record | --check] [QUERY...]``.

Each query of ``perf/queries`` runs as a cold process of sqlvec and of the sqlite3 program on the same file, in turns, so that other work on the
machine hits both; a query's figure is the least CPU time (user + system) of its runs, its *ratio* that of sqlvec by that of sqlite3.  Answers
are compared byte for byte.

``--record`` writes the ratios with the date and the version of sqlite3 to ``perf/results/DATA-ROWS.json``.
``--check`` is the ratchet: it fails where a ratio is worse than the recorded one by more than ``--tolerance`` (a share of it; queries under
``SHORT`` seconds in both programs are not judged, process start is most of what they take), or where answers differ.
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
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import data

HERE = Path(__file__).parent
QUERIES = HERE / "queries"
RESULTS = HERE / "results"
SHORT = 0.25


def run_once(command: list[str]) -> tuple[float, str]:
    """CPU seconds and output of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout + done.stderr


def compare_one(sql: str, file: str, oracle: str, runs: int) -> dict[str, object]:
    """The least CPU time of both programs for one query, measured in turns."""
    ours = theirs = math.inf
    is_equal = True
    for _ in range(runs):
        seconds, expected = run_once([oracle, file, sql])
        theirs = min(theirs, seconds)
        seconds, answer = run_once([sys.executable, "-m", "sqlvec", file, sql])
        ours = min(ours, seconds)
        is_equal = is_equal and answer == expected
    return {"sqlvec": round(ours, 3), "sqlite3": round(theirs, 3), "ratio": round(ours / max(theirs, 1e-3), 3), "equal": is_equal}


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def setbacks(measured: dict[str, dict[str, object]], recorded: dict[str, dict[str, object]], tolerance: float) -> list[str]:
    """What the ratchet objects to: one line a query."""
    out = []
    for name, entry in measured.items():
        before = recorded.get(name)
        if before is None:
            continue
        is_short = max(entry["sqlvec"], entry["sqlite3"]) < SHORT  # type: ignore[type-var,operator]
        limit = before["ratio"] * (1 + tolerance)  # type: ignore[operator]
        if not is_short and entry["ratio"] > limit:  # type: ignore[operator]
            out.append(f"{name}: ratio {entry['ratio']} is above {limit:.3f} (recorded {before['ratio']})")
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("queries", nargs="*", help="names of query files without .sql; all by default")
    parser.add_argument("--data", default="sales", choices=("sales", "mixed"), help="clean values, or one percent of other storage classes")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--folder", help="where data files are kept between runs (a temporary folder by default)")
    parser.add_argument("--record", action="store_true", help="write perf/results")
    parser.add_argument("--check", action="store_true", help="fail where a ratio is worse than the recorded one")
    parser.add_argument("--tolerance", type=float, default=0.35, help="share by which a ratio may be worse (default 0.35)")
    arguments = parser.parse_args()
    oracle = shutil.which("sqlite3")
    if oracle is None:
        print("the sqlite3 program is needed beside sqlvec")
        return 2
    measured: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        file = os.path.join(arguments.folder or temporary, f"{arguments.data}-{arguments.rows}.db")
        if not os.path.exists(file):
            data.make(arguments.data, arguments.rows, file)
        for path in sorted(QUERIES.glob("*.sql")):
            if arguments.queries and path.stem not in arguments.queries:
                continue
            entry = measured[path.stem] = compare_one(path.read_text(encoding="utf-8"), file, oracle, arguments.runs)
            note = "" if entry["equal"] else "  ANSWERS DIFFER"
            print(f"{path.stem:20} sqlvec {entry['sqlvec']:8.3f} s  sqlite3 {entry['sqlite3']:8.3f} s  ratio {entry['ratio']:7.3f}{note}", flush=True)
    if not measured:
        print("no such query")
        return 2
    mean = geometric_mean([entry["ratio"] for entry in measured.values()])  # type: ignore[misc]
    print(f"geometric mean of {len(measured)} ratios: {mean:.3f}")
    results = RESULTS / f"{arguments.data}-{arguments.rows}.json"
    failed = [f"{name}: answers differ" for name, entry in measured.items() if not entry["equal"]]
    if arguments.check:
        if not results.exists():
            print(f"nothing recorded in {results}")
            return 2
        failed += setbacks(measured, json.loads(results.read_text(encoding="utf-8"))["queries"], arguments.tolerance)
    if arguments.record and not failed:
        record(results, oracle, measured)
    for line in failed:
        print(line)
    return int(bool(failed))


def record(results: Path, oracle: str, measured: dict[str, dict[str, object]]) -> None:
    """Write the results; queries that were not run keep what was recorded of them."""
    queries = json.loads(results.read_text(encoding="utf-8"))["queries"] if results.exists() else {}
    queries.update(measured)
    mean = geometric_mean([entry["ratio"] for entry in queries.values()])
    version = subprocess.run([oracle, "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
    content = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "sqlite3": version, "python": sys.version.split()[0],
               "geometric_mean": round(mean, 3), "queries": dict(sorted(queries.items()))}
    results.parent.mkdir(exist_ok=True)
    results.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
