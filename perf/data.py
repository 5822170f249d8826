"""Deterministic data sets for measuring: ``python perf/data.py NAME ROWS FILE``.

``sales``: ``orders(id, day, region, product, quantity, amount, note)`` as an analyst would have it, and ``products(name, category, price)``.
``mixed``: the same with one percent of values of another storage class than declared.
``wide``: a table of 20 integer columns.
Files are written by sqlvec itself; the same arguments make the same file.
"""
from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterator

import sqlvec

REGIONS = ("north", "south", "east", "west", "centre")
PRODUCTS = tuple(f"product-{number:03d}" for number in range(200))
CATEGORIES = ("tools", "toys", "food", "books", "garden", "music", "office")
DAYS = tuple(time.strftime("%Y-%m-%d", time.gmtime(1577836800 + number * 86400)) for number in range(1000))      # from 2020-01-01


def orders(count: int) -> Iterator[tuple[object, ...]]:
    """Rows of ``orders``."""
    source = random.Random(1)
    for number in range(1, count + 1):
        day = DAYS[source.randrange(1000)]
        note = None if source.random() < 0.5 else f"note {source.randrange(count)}"
        yield (number, day, source.choice(REGIONS), source.choice(PRODUCTS), source.randrange(1, 20), round(source.uniform(1, 500), 2), note)


def mixed(count: int) -> Iterator[tuple[object, ...]]:
    """Rows of ``orders`` with odd values in places."""
    source = random.Random(2)
    odd = (None, "n/a", b"\x00\x01", 2.5, "17")
    for row in orders(count):
        yield tuple(source.choice(odd) if column and source.random() < 0.01 else value for column, value in enumerate(row))


def products() -> Iterator[tuple[object, ...]]:
    """Rows of ``products``."""
    source = random.Random(4)
    for name in PRODUCTS:
        yield (name, source.choice(CATEGORIES), source.randrange(1, 400))


def wide(count: int) -> Iterator[tuple[object, ...]]:
    """Rows of 20 integers."""
    source = random.Random(3)
    for _ in range(count):
        yield tuple(source.randrange(1 << source.randrange(4, 40)) for _ in range(20))


ORDERS = "CREATE TABLE orders(id INTEGER PRIMARY KEY, day TEXT, region TEXT, product TEXT, quantity INTEGER, amount REAL, note TEXT)"
CATALOGUE = "CREATE TABLE products(name TEXT PRIMARY KEY, category TEXT, price INTEGER)"
SETS = {
    "sales": (ORDERS, orders, 7),
    "mixed": (ORDERS, mixed, 7),
    "wide": ("CREATE TABLE wide(" + ", ".join(f"c{number} INTEGER" for number in range(20)) + ")", wide, 20),
}


def make(name: str, count: int, path: str) -> None:
    """Write the data set ``name`` of ``count`` rows to ``path`` (replaced if it exists)."""
    schema, rows, width = SETS[name]
    if os.path.exists(path):
        os.remove(path)
    connection = sqlvec.connect(path)
    connection.execute(schema)
    table = "wide" if name == "wide" else "orders"
    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", rows(count))
    if table == "orders":
        connection.execute(CATALOGUE)
        connection.executemany("INSERT INTO products VALUES (?, ?, ?)", products())
    connection.commit()
    connection.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", choices=sorted(SETS))
    parser.add_argument("rows", type=int)
    parser.add_argument("file")
    arguments = parser.parse_args()
    make(arguments.name, arguments.rows, arguments.file)
