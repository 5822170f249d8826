"""JSON functions, json_each and json_tree."""
from __future__ import annotations

import random
import sqlite3

import pytest

from sqlvec import errors
from sqlvec.functions.json_text import parse, render
from sqlvec.functions.registry import FunctionRegistry
from sqlvec.values.text import JsonText
from sqlvec.vtab.json_each import JsonEach, JsonTree
from tests.values.oracle_values import real_connection, same

KEYS = ["a", "b", "c", "a b", "a.b", "é", "x\\u0041", "", "1"]
SCALARS = ["null", "true", "false", "1", "-5", "1.5", "-0", "2.50e+3", "1E5", "1e400", "9223372036854775808", '"x"', '"a\\nb"', '"\\u00e9"',
           '"\\ud83d\\ude00"', '"é"', '""', "[]", "{}"]
STEPS = [".a", ".b", ".c", '."a b"', ".1", "[0]", "[1]", "[#-1]", "[#-9]", "[x]", ".", "[1", "[#-", "x", '."']


def call(name: str, *arguments: object) -> object:
    try:
        result = FunctionRegistry().lookup(name, len(arguments)).call(*arguments)
    except errors.SqlError as error:
        return ("error", error.message)
    return str(result) if isinstance(result, JsonText) else result


def random_json(rng: random.Random, depth: int = 0) -> str:
    space = rng.choice(["", "", "", " ", "\n", "\t "])
    kind = rng.random()
    if depth < 3 and kind < 0.25:
        return space + "[" + ",".join(random_json(rng, depth + 1) for _ in range(rng.randint(0, 3))) + "]"
    if depth < 3 and kind < 0.55:
        return space + "{" + ",".join(f'"{rng.choice(KEYS)}":{random_json(rng, depth + 1)}' for _ in range(rng.randint(0, 3))) + "}" + space
    return space + rng.choice(SCALARS) + space


def random_document(rng: random.Random) -> object:
    text = random_json(rng)
    if rng.random() < 0.1:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice(["", ",", "]", '"', "\\", "0", "-", "x", "\x01"]) + text[at + 1 :]
    return rng.choice([None, 5, 1.5]) if rng.random() < 0.04 else text


def random_path(rng: random.Random) -> object:
    if rng.random() < 0.06:
        return rng.choice([None, "", "a", "$a", "[0]", 0, 1, -1, "a.b", "1x"])
    steps = STEPS if rng.random() < 0.3 else STEPS[:7]
    return "$" + "".join(rng.choice(steps) for _ in range(rng.choice([0, 1, 1, 2, 2, 3])))


def random_call(rng: random.Random) -> tuple[str, list[object]]:
    name = rng.choice(["json", "json_valid", "json_extract", "json_type", "json_array_length", "json_remove", "json_set", "json_insert",
                       "json_replace", "json_patch", "json_quote", "json_array", "->", "->>"])
    document = random_document(rng)
    if name in ("json", "json_valid"):
        return name, [document]
    if name in ("json_extract", "json_remove"):
        return name, [document, *(random_path(rng) for _ in range(rng.randint(0, 2)))]
    if name in ("json_type", "json_array_length", "->", "->>"):
        return name, [document, random_path(rng)]
    if name == "json_patch":
        return name, [document, random_document(rng)]
    values = [rng.choice([1, -5, 1.5, 1e100, None, "x", 'a"b', "\x01\n", "[1]", b"\1"]) for _ in range(3)]
    if name == "json_quote":
        return name, values[:1]
    return name, values if name == "json_array" else [document, random_path(rng), values[0]]


def real(connection: sqlite3.Connection, sql: str, arguments: list[object]) -> object:
    try:
        return connection.execute(sql, arguments).fetchall()
    except sqlite3.Error as error:
        return ("error", str(error))


def test_functions_against_the_real_one() -> None:
    connection = real_connection()
    rng = random.Random(31)
    for _ in range(4000):
        name, arguments = random_call(rng)
        sql = f"select ? {name} ?" if name[0] == "-" else f"select {name}({','.join('?' * len(arguments))})"
        expected = real(connection, sql, arguments)
        expected = expected[0][0] if isinstance(expected, list) else expected
        assert same(expected, call(name, *arguments)), (name, arguments)


@pytest.mark.parametrize(("name", "table"), [("json_each", JsonEach()), ("json_tree", JsonTree())])
def test_tables_against_the_real_one(name: str, table: JsonEach) -> None:
    connection = real_connection()
    rng = random.Random(name)
    for _ in range(1500):
        arguments = [random_document(rng), random_path(rng)][: rng.randint(1, 2)]
        columns = "key, value, type, atom, id, parent, fullkey, path, json, root"
        expected = real(connection, f"select {columns} from {name}({','.join('?' * len(arguments))})", arguments)
        try:
            got: object = list(table.rows(*arguments))  # type: ignore[arg-type]
        except errors.SqlError as error:
            got = ("error", error.message)
        assert repr(expected) == repr(got), arguments


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("json", ('{"a":1,"a":2 , "b" : [ 1 , 2.50e+3 ]}',), '{"a":1,"a":2,"b":[1,2.50e+3]}'),
        ("json", ("[01]",), ("error", "malformed JSON")),
        ("json_extract", ('{"a":[1,{"b":"x\\ny"}]}', "$.a[1].b"), "x\ny"),
        ("json_extract", ("[1]", "$[x]"), ("error", "JSON path error near '[x]'")),
        ("json_extract", ('{"a":1}', "$.a", "$.z"), "[1,null]"),
        ("json_set", ("{}", "$.a[0].b", 2), '{"a":[{"b":2}]}'),
        ("json_set", ('{"a":1}', "$.b"), ("error", "json_set() needs an odd number of arguments")),
        ("json_object", (1, 2), ("error", "json_object() labels must be TEXT")),
        ("json_array", (b"\0",), ("error", "JSON cannot hold BLOB values")),
        ("json_patch", ('{"a":1,"b":2}', '{"a":null,"c":{"d":null,"e":1}}'), '{"b":2,"c":{"e":1}}'),
        ("->>", ('{"a":"x"}', "a"), "x"),
        ("->", ('{"a":"x"}', "a"), '"x"'),
        ("json_valid", (None,), 0),
    ],
)
def test_results(name: str, arguments: tuple[object, ...], result: object) -> None:
    assert same(result, call(name, *arguments))


def test_subtype_is_kept_between_calls() -> None:
    array = FunctionRegistry().lookup("json_array", 2).call
    assert array(array(1, 2), "[1,2]") == '[[1,2],"[1,2]"]'


def test_nesting_does_not_recurse() -> None:
    text = "[" * 2000 + "]" * 2000
    assert render(parse(text)) == text
    with pytest.raises(errors.SqlError, match="malformed JSON"):
        parse("[" * 2002 + "]" * 2002)
