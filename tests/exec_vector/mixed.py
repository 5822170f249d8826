"""A file of mixed values, made with the real library: every storage class in every column, NULLs, collations, overflow, an added column."""
from __future__ import annotations

import random

TEXTS = ("a", "A", "b", "abc", "ABC", "Abc ", "abc  ", "zz", "", "hello world", "Hello World", "10", "9", "2.0", "é", "É", "日本", "abcdefgh",
         "abcdefghi", "abcdefgh\x00x", "x" * 3000)


def value(rng, kind):
    """A random value for a column that is mostly of one kind."""
    chance = rng.random()
    if chance < 0.08:
        return None
    if kind == "i":
        if chance < 0.93:
            return rng.choice((0, 1, 2, -1, rng.randrange(20), rng.randrange(200), rng.randrange(-1000, 1000)))
        return rng.choice((2**53, 2**53 + 1, -2**40, "x", "12", "1.5", rng.random() * 10))
    if kind == "r":
        if chance < 0.93:
            return rng.choice((0.0, -0.0, 1.0, 2.5, rng.randrange(100) / 4, rng.random() * 100))
        return rng.choice(("abc", "3.5", 1e300, float("inf")))
    if kind == "t":
        if chance < 0.9:
            return rng.choice(TEXTS)
        return rng.choice((rng.randrange(12), bytes([rng.randrange(256)]), f"k{rng.randrange(30)}"))
    return f"19{rng.randrange(92, 99)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"


def make(connection, rows=250, seed=5, page_size=1024):
    """Fill an empty file through an sqlite3 connection."""
    rng = random.Random(seed)
    connection.execute(f"pragma page_size = {page_size}")
    connection.execute("create table t1(id integer primary key, a integer, b real, c text, d text collate nocase, e, f date)")
    connection.execute("create table t2(k integer, a integer, c text, v real, w)")
    connection.execute("create table t3(p text, q integer, z, primary key(q, p)) without rowid")
    for number in range(rows):
        connection.execute("insert into t1 values (?,?,?,?,?,?,?)",
                           (number * 2 + 1, *[value(rng, kind) for kind in "irtt"], value(rng, rng.choice("irt")), value(rng, "d")))
        connection.execute("insert into t2 values (?,?,?,?,?)", (rng.randrange(rows), *[value(rng, kind) for kind in "itr"], value(rng, "i")))
        connection.execute("insert or ignore into t3 values (?,?,?)", (rng.choice("abcdef"), rng.randrange(100), value(rng, "i")))
    connection.execute("create index t2_k on t2(k)")
    connection.execute("create index t2_av on t2(a, v)")
    connection.execute("create index t1_c on t1(c)")
    connection.execute("alter table t2 add column late default 'later'")
    connection.execute("update t2 set late = k where k % 5 = 0")
    connection.commit()
