"""Planning time in process: EXPLAIN QUERY PLAN of a point query and of a ten-table join, each text new so that nothing is cached.

``python perf/planning.py`` prints least and median milliseconds; ``--check`` fails when a least time is over LIMITS (the least, because a busy machine
only ever adds).
"""
from __future__ import annotations

import sys
import time

from sqlvec.dbapi.connection import connect

TABLES = 10
QUERIES = {
    "point query": "SELECT b FROM t1 WHERE a = 5",
    "ten-table join": "SELECT * FROM " + ", ".join(f"t{number}" for number in range(TABLES)) + " WHERE "
                      + " AND ".join(f"t{number}.b = t{number + 1}.c" for number in range(TABLES - 1)),
}
LIMITS = {"point query": 0.5, "ten-table join": 50.0}


def milliseconds(connection: object, sql: str, runs: int) -> list[float]:
    """Sorted times of several runs."""
    times = []
    for run in range(runs):
        start = time.perf_counter()
        connection.execute(f"EXPLAIN QUERY PLAN {sql} /* {run} */").fetchall()  # type: ignore[attr-defined]
        times.append((time.perf_counter() - start) * 1000)
    return sorted(times)


def main() -> int:
    connection = connect(":memory:")
    for number in range(TABLES):
        connection.execute(f"CREATE TABLE t{number}(a INTEGER PRIMARY KEY, b, c, d)")
        connection.execute(f"CREATE INDEX i{number} ON t{number}(b)")
    slow = 0
    for name, sql in QUERIES.items():
        times = milliseconds(connection, sql, 30)
        slow += times[0] > LIMITS[name]
        print(f"{name}: least {times[0]:.2f} ms, median {times[len(times) // 2]:.2f} ms (limit {LIMITS[name]} ms)")
    return 1 if slow and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
