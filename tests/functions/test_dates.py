"""Date and time functions."""
from __future__ import annotations

import random

import pytest

from sqlvec.functions.registry import FunctionContext, FunctionRegistry
from tests.functions.test_scalar_oracle import real_call
from tests.values.oracle_values import real_connection, same


def call(name: str, *arguments: object) -> object:
    return FunctionRegistry().lookup(name, len(arguments)).call(FunctionContext(), *arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("date", ("2023-02-30",), "2023-02-30"),
        ("date", ("2023-02-30", "+0 days"), "2023-03-02"),
        ("date", ("2023-01-31", "+1 month"), "2023-03-03"),
        ("date", ("2024-02-29", "+1 year"), "2025-03-01"),
        ("date", (0,), "-4713-11-24"),
        ("datetime", ("2023-06-05 14:30:15.9",), "2023-06-05 14:30:15"),
        ("datetime", ("2023-06-05T14:30+05:30",), "2023-06-05 09:00:00"),
        ("datetime", (1700000000, "unixepoch"), "2023-11-14 22:13:20"),
        ("datetime", (1700000000, "auto"), "2023-11-14 22:13:20"),
        ("date", ("2023-06-05", "weekday 0"), "2023-06-11"),
        ("date", ("2023-06-05", "start of month", "+1 month", "-1 day"), "2023-06-30"),
        ("time", ("12:00", "+90 minutes"), "13:30:00"),
        ("time", ("12:00", "-01:30"), "10:30:00"),
        ("date", ("2023-06-05", "+5days"), None),
        ("date", ("2023-06-05", "+ 5 days"), None),
        ("date", (" 2023-06-05",), None),
        ("date", ("2023-13-05",), None),
        ("date", (None,), None),
        ("julianday", ("2000-01-01 12:00",), 2451545.0),
        ("unixepoch", ("1970-01-02",), 86400),
        ("strftime", ("%Y|%j|%W|%w|%f|%s|%%", "2023-06-05 14:30:15.1239"), "2023|156|23|1|15.124|1685975415|%"),
        ("strftime", ("%e", "2023-06-05"), None),
    ],
)
def test_results(name: str, arguments: tuple[object, ...], result: object) -> None:
    assert same(result, call(name, *arguments))


def test_now_is_fixed_within_a_statement() -> None:
    context = FunctionContext()
    registry = FunctionRegistry()
    stamp = registry.lookup("julianday", 1).call
    assert stamp(context, "now") == stamp(context, "now") == context.now() / 86400000.0


def _date(rng: random.Random) -> str:
    year = rng.choice([rng.randint(1900, 2100), rng.randint(0, 9999)])
    return f"{year:04d}-{rng.randint(1, 12):02d}-{rng.randint(1, 31):02d}"


def _time(rng: random.Random) -> str:
    text = f"{rng.randint(0, 24):02d}:{rng.randint(0, 59):02d}"
    if rng.random() < 0.7:
        text += f":{rng.randint(0, 59):02d}"
        if rng.random() < 0.5:
            text += "." + "".join(rng.choice("0123456789") for _ in range(rng.choice([0, 1, 3, 6])))
    return text + rng.choice(["", "", "", " Z", "+05:30", "-08:00", "+15:00", "z"])


def _modifier(rng: random.Random) -> object:
    unit = rng.choice(["day", "days", "hour", "minutes", "second", "month", "months", "year", "YEARS", "week"])
    number = rng.choice([str(rng.randint(-40, 40)), f"{rng.uniform(-50, 50):.3f}", "+" + str(rng.randint(0, 500)), "1e3", ".5", "+ 5", "176545"])
    return rng.choice(
        [
            number + rng.choice([" ", "  ", ""]) + unit, rng.choice(["+", "-", ""]) + _time(rng), "start of month", "start of year",
            "start of day", "start of week", "weekday " + rng.choice(["0", "3", "6", "7", "1.5", "x"]), "unixepoch", "auto", "julianday", "utc", "", None,
        ]
    )


def test_against_the_real_one() -> None:
    connection = real_connection()
    rng = random.Random(21)
    for _ in range(4000):
        value = rng.choice(
            [_date(rng), _date(rng) + " " + _time(rng), _date(rng) + "T" + _time(rng), _time(rng), rng.uniform(0, 5373484.5), rng.randint(-(10**9), 2 * 10**9)]
        )
        arguments = [value, *(_modifier(rng) for _ in range(rng.choice([0, 1, 1, 2, 3])))]
        name = rng.choice(["date", "time", "datetime", "julianday", "unixepoch", "strftime"])
        if name == "strftime":
            arguments.insert(0, "".join("%" + rng.choice("dfHjJmMsSwWY%") + "-" for _ in range(3)))
        assert same(real_call(connection, name, arguments), call(name, *arguments)), (name, arguments)
