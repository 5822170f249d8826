"""Where a query's time goes: ``python perf/profile.py FILE "SQL" [--engine row|vector|auto] [--functions N] [--source] [--flame SVG] [--speedscope JSON]``.

The time is summed by part: parse, plan, pages, decode, gather, kernels, row callable, bridge, row engine, functions ... by the file a function lives in;
``--functions`` lists the costliest functions, ``--source`` prints the Python source that was generated for the query.  ``--flame`` writes a flame graph
as an SVG picture and ``--speedscope`` a file for the speedscope viewer; for them the query runs once more (see flame.py).
"""
from __future__ import annotations

import sys
from pathlib import Path

# The script's own folder holds a file called profile.py: keep it from hiding the standard module of that name.
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).parent]

import argparse
import cProfile
import pstats
import time

import sqlvec

sys.path.append(str(Path(__file__).parent))          # at the end: the standard modules are found first

import flame

PARTS = (
    ("parse", "sqlvec/parse/"), ("decode", "sqlvec/pages/columns/leaf_decode"), ("decode", "sqlvec/pages/columns/index_leaf_decode"),
    ("gather", "sqlvec/pages/columns/"), ("pages", "sqlvec/pages/"), ("kernels", "sqlvec/columnar/"), ("bridge", "sqlvec/exec/bridge"),
    ("row callable", "sqlvec/exec/vector/decline"), ("vector operators", "sqlvec/exec/vector/"), ("dml", "sqlvec/exec/dml/"), ("row engine", "sqlvec/exec/"),
    ("compile", "sqlvec/expr/"), ("functions", "sqlvec/functions/"), ("values", "sqlvec/values/"), ("plan", "sqlvec/plan/"), ("schema", "sqlvec/schema/"),
    ("generated code", "<sqlvec"), ("numpy", "numpy"),
)


def part_of(file: str) -> str:
    for name, mark in PARTS:
        if mark in file:
            return name
    return "python"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("sql")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--functions", type=int, default=0)
    parser.add_argument("--source", action="store_true")
    parser.add_argument("--flame", metavar="SVG")
    parser.add_argument("--speedscope", metavar="JSON")
    arguments = parser.parse_args()
    connection = sqlvec.connect(arguments.file)
    connection.execute(f"PRAGMA sqlvec_engine = {arguments.engine}")
    if arguments.source:
        from sqlvec.expr import compile as compiler

        compiler.keep_source = True
    profiler = cProfile.Profile()
    start = time.perf_counter()
    profiler.enable()
    rows = connection.execute(arguments.sql).fetchall()
    profiler.disable()
    wall = time.perf_counter() - start
    parts: dict[str, float] = {}
    stats = pstats.Stats(profiler)
    for (file, _, _), (_, _, own, _, _) in stats.stats.items():  # type: ignore[attr-defined]
        part = part_of(file)
        parts[part] = parts.get(part, 0.0) + own
    print(f"{len(rows)} rows, {wall:.3f} s under the profiler")
    for part, seconds in sorted(parts.items(), key=lambda item: -item[1]):
        print(f"{part:18} {seconds:8.3f} s {100 * seconds / max(wall, 1e-9):5.1f} %")
    if arguments.functions:
        stats.sort_stats("tottime").print_stats(arguments.functions)
    if arguments.flame or arguments.speedscope:
        collector = collect(connection, arguments.sql)
        if arguments.flame:
            Path(arguments.flame).write_text(flame.flame_graph(collector, arguments.sql), encoding="utf-8")
        if arguments.speedscope:
            Path(arguments.speedscope).write_text(flame.speedscope(collector, arguments.sql), encoding="utf-8")
    return 0


def describe(file: str, line: int, name: str) -> str:
    """A function's name with the part and the place it belongs to."""
    place = file[file.rindex("sqlvec/"):] if "sqlvec/" in file else file.rsplit("/", 1)[-1]
    return f"{name} [{part_of(file)}] {place}:{line}"


def collect(connection: sqlvec.Connection, sql: str) -> flame.Collector:
    """The call tree of one more run of the query."""
    collector = flame.Collector(describe)
    collector.start()
    try:
        connection.execute(sql).fetchall()
    finally:
        collector.stop()
    return collector


if __name__ == "__main__":
    sys.exit(main())
