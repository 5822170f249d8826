"""Samples of the recorded corpora that may lie beside the project, judged against floors that only rise (.ci/floors.json)."""
from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
FLOORS = json.loads((ROOT / ".ci" / "floors.json").read_text(encoding="utf-8"))
PYTHON = sys.executable
COMMAND = str(Path(PYTHON).parent / "sqlvec")


def percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 100.0


def cases(folder: str) -> dict[str, float]:
    """Figures of a sample of the conformance cases: file check, stdout, error text; tracebacks counted."""
    out = Path(folder) / "cases.json"
    subprocess.run([PYTHON, str(SHARED / "tools/run_cases.py"), "--inprocess", "--cases", str(SHARED / "cases"), "--sample", str(FLOORS["cases"]["sample"]),
                    "--seed", "1", "--jobs", "2", "--timeout", "30", "--show", "0", "--json", str(out)], cwd=ROOT, env=environment(), check=False)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    wanted = [row for row in rows if row["feature"] not in FLOORS["cases"]["without"]]
    errors = [row for row in wanted if row.get("err_ok") is not None]
    return {
        "file": percent(sum(bool(row["file_ok"]) for row in wanted), len(wanted)),
        "stdout": percent(sum(bool(row.get("stdout_ok")) for row in wanted), len(wanted)),
        "error": percent(sum(bool(row["err_ok"]) for row in errors), len(errors)),
        "no_traceback": percent(sum("Traceback" not in json.dumps(row) for row in rows), len(rows)),
    }


def records(folder: str) -> dict[str, float]:
    """Figures of the start of every record file, by its top folder."""
    figures = {}
    for name, match in FLOORS["slt"]["match"].items():
        out = Path(folder) / f"slt-{name}.json"
        subprocess.run([PYTHON, str(SHARED / "tools/slt/run_slt.py"), "--module", "sqlvec", "--jobs", "2", "--match", match, "--max-records",
                        str(FLOORS["slt"]["records"]), "--record-timeout", "30", "--json", str(out), str(SHARED / "slt")], cwd=ROOT, env=environment(), check=False)
        total = json.loads(out.read_text(encoding="utf-8"))["total"]
        figures[name] = percent(total["passed"], total["passed"] + total["failed"] + total["errors"])
    return figures


def real_databases() -> dict[str, float]:
    """Share of the real databases' queries that pass."""
    done = subprocess.run([PYTHON, str(SHARED / "tools/realdb/run_realdb.py"), "--cmd", COMMAND, "--dir", str(SHARED / "realdb"), "--jobs", "2"],
                          cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    print(done.stdout[-1500:])
    last = [line for line in done.stdout.splitlines() if " passed, " in line][-1]
    words = last.replace(",", "").split()
    passed, failed = int(words[words.index("passed") - 1]), int(words[words.index("failed") - 1])
    return {"passed": percent(passed, passed + failed)}


def environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT), "TZ": "UTC"}


def main() -> int:
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        figures = {"cases": cases(folder), "slt": records(folder), "realdb": real_databases()}
    for group, values in figures.items():
        for name, value in values.items():
            floor = FLOORS[group]["floors"].get(name, 0.0)
            mark = "ok" if value >= floor else "BELOW THE FLOOR"
            print(f"{group:8} {name:14} {value:7.2f} %  floor {floor:6.2f} %  {mark}")
            if value < floor:
                failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
