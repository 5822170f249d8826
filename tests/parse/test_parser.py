
"""The trees: shapes, precedence, names, spans."""
from __future__ import annotations

import pytest

from sqlvec.parse import ast
from sqlvec.parse.parser import parse_expression, parse_statement
from sqlvec.parse.walk import column_refs, descendants, names


def show(node: object) -> str:
    """A compact form of an expression."""
    if isinstance(node, ast.Literal):
        return repr(node.value)
    if isinstance(node, ast.ColumnRef):
        return ".".join(part.text for part in (node.schema, node.table, node.column) if part is not None)
    if isinstance(node, ast.Unary):
        return f"({node.op} {show(node.operand)})"
    if isinstance(node, ast.Binary):
        return f"({show(node.left)} {node.op} {show(node.right)})"
    if isinstance(node, ast.Nary):
        return "(" + f" {node.op} ".join(map(show, node.operands)) + ")"
    if isinstance(node, ast.Between):
        return f"({show(node.operand)} {'NOT ' * node.negated}BETWEEN {show(node.low)} {show(node.high)})"
    if isinstance(node, ast.IsNull):
        return f"({show(node.operand)} {'NOTNULL' if node.negated else 'ISNULL'})"
    if isinstance(node, ast.InList):
        return f"({show(node.operand)} {'NOT ' * node.negated}IN {', '.join(map(show, node.items))})"
    if isinstance(node, ast.Collate):
        return f"({show(node.operand)} COLLATE {node.collation.text})"
    if isinstance(node, ast.Like):
        escape = "" if node.escape is None else " ESCAPE " + show(node.escape)
        return f"({show(node.operand)} {'NOT ' * node.negated}{node.op} {show(node.pattern)}{escape})"
    return repr(node)


@pytest.mark.parametrize(
    ("sql", "tree"),
    [
        ("1+2*3-4", "((1 + (2 * 3)) - 4)"),
        ("a or b and c or d", "(a OR (b AND c) OR d)"),
        ("not a = b", "(NOT (a = b))"),
        ("1 + not 2 = 3", "(1 + (NOT (2 = 3)))"),
        ("- a collate nocase", "((- a) COLLATE nocase)"),
        ("a || b collate c || d", "(a || (b COLLATE c) || d)"),
        ("a -> b ->> c", "((a -> b) ->> c)"),
        ("a < b = c", "((a < b) = c)"),
        ("a = b < c", "(a = (b < c))"),
        ("a between 1 and 2 and b", "((a BETWEEN 1 2) AND b)"),
        ("a not between b = 1 and 2", "(a NOT BETWEEN (b = 1) 2)"),
        ("a = b in (1)", "((a = b) IN 1)"),
        ("a = b not in (1)", "((a = b) NOT IN 1)"),
        ("not a not null", "(NOT (a NOTNULL))"),
        ("a is not null", "(a NOTNULL)"),
        ("a is not distinct from b", "(a IS b)"),
        ("a is distinct from b", "(a IS NOT b)"),
        ("a like b escape c and d", "((a LIKE b ESCAPE c) AND d)"),
        ("a not glob b", "(a NOT GLOB b)"),
        ("a == b <> c", "((a = b) != c)"),
        ("~a << 1 & 2", "(((~ a) << 1) & 2)"),
        ("x.y.z", "x.y.z"),
        ("nosuch and 0", "0"),
        ("nosuch in ()", "False"),
        ("nosuch not in ()", "True"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("- -9223372036854775808", "(- -9223372036854775808)"),
        ("0xffffffffffffffff", "-1"),
        ("9223372036854775808", "9.223372036854776e+18"),
    ],
)
def test_precedence(sql: str, tree: str) -> None:
    assert show(parse_expression(sql)) == tree


def test_deep_chains_need_no_recursion() -> None:
    chain = parse_expression("a" + " and a" * 999)
    assert isinstance(chain, ast.Nary)
    assert len(chain.operands) == 1000
    assert isinstance(parse_expression("1" + "+1" * 999), ast.Binary)


def test_parameters_are_numbered() -> None:
    statement, _ = parse_statement("select ?, :a, ?5, ?, :a, $b")
    assert statement is not None
    numbers = [node.number for node in descendants(statement) if isinstance(node, ast.Parameter)]
    assert numbers == [1, 2, 5, 6, 2, 7]
    assert statement.parameter_count == 7
    assert statement.parameter_names == {2: ":a", 5: "?5", 7: "$b"}


def test_result_column_names() -> None:
    statement, _ = parse_statement("select (1)  ,( 2 ) /*a*/ + /*b*/ 3 as x, a /* q */ from t")
    assert isinstance(statement, ast.Select)
    assert isinstance(statement.body, ast.SelectCore)
    assert [column.text for column in statement.body.columns] == ["(1)", "( 2 ) /*a*/ + /*b*/ 3", "a /* q */"]


def test_names_keep_their_quotes() -> None:
    statement, _ = parse_statement("select \"a\"\"b\", [c d], `e`, f from 'g'")
    assert statement is not None
    assert [(name.text, name.quoted) for name in names(statement)] == [('a"b', '"'), ("c d", "["), ("e", "`"), ("f", ""), ("g", "'")]


def test_from_clause() -> None:
    statement, _ = parse_statement("select * from a, b left join c on 1 natural join (d join e) full outer join f(1,2) as g using (x)")
    assert isinstance(statement, ast.Select)
    assert isinstance(statement.body, ast.SelectCore)
    items = statement.body.from_
    assert [item.join for item in items] == [
        0, ast.JOIN_COMMA, ast.JOIN_LEFT | ast.JOIN_OUTER, ast.JOIN_NATURAL, ast.JOIN_FULL | ast.JOIN_OUTER,
    ]  # fmt: skip
    assert isinstance(items[3].source, ast.ParenthesisedJoin)
    assert items[4].using is not None
    assert isinstance(items[4].source, ast.TableName)
    assert items[4].source.args is not None


def test_parenthesised_start_of_from_is_flat() -> None:
    statement, _ = parse_statement("select * from (a join b) join c")
    assert isinstance(statement, ast.Select)
    assert isinstance(statement.body, ast.SelectCore)
    assert len(statement.body.from_) == 3


def test_statement_ends() -> None:
    sql = " ;; select 1 ; -- c\n select 2"
    first, end = parse_statement(sql)
    assert first is not None
    assert sql[:end] == " ;; select 1 ;"
    second, end = parse_statement(sql, end)
    assert second is not None
    assert sql[second.span[0] : second.span[1]] == "select 2"
    assert parse_statement(sql, end) == (None, len(sql))


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("create table main . x /*2*/ (a int) /*3*/ ;", "x /*2*/ (a int)"),
        ("create table x(a int primary key) without rowid /*q*/ ;", "x(a int primary key) without rowid /*q*/ "),
        ("create table x(a), strict", "x(a), strict"),
        ("create index if not exists ix on t ( a ) /*c*/ ;", "ix on t ( a ) /*c*/ "),
        ("create view v as select 1  ; ", "v as select 1"),
        ("create trigger tr after insert on t begin select 1; end /*x*/ ;", "tr after insert on t begin select 1; end"),
        ("create virtual table main.vt using m(a, b(c,d) ) /*x*/ ;", "vt using m(a, b(c,d) )"),
    ],
)
def test_stored_text(sql: str, text: str) -> None:
    statement, _ = parse_statement(sql)
    assert isinstance(statement, (ast.CreateTable, ast.CreateIndex, ast.CreateView, ast.CreateTrigger, ast.CreateVirtualTable))
    assert sql[statement.name_start : statement.text_end] == text


def test_module_arguments() -> None:
    statement, _ = parse_statement("create virtual table v using m( a , b (c,d) /*x*/, , tokenize = 'x y')")
    assert isinstance(statement, ast.CreateVirtualTable)
    assert statement.arguments == ["a", "b (c,d)", "", "tokenize = 'x y'"]


@pytest.mark.parametrize(
    ("definition", "type_name"),
    [("a", ""), ("a int", "int"), ("a varchar(10, -2) not null", "varchar(10, -2)"), ("a int generated always as (1)", "int"), ("a key", "key")],
)
def test_column_types(definition: str, type_name: str) -> None:
    statement, _ = parse_statement(f"create table x(z, {definition})")
    assert isinstance(statement, ast.CreateTable)
    assert statement.columns[1].type_name == type_name


def test_column_constraints() -> None:
    statement, _ = parse_statement(
        "create table x(a int constraint n not null on conflict ignore default -5 check( a > 1 ) collate nocase"
        " references p(q) on delete set null deferrable initially deferred, b as (a+1) stored, unique(a), foreign key(a) references p)"
    )
    assert isinstance(statement, ast.CreateTable)
    kinds = [type(constraint).__name__ for constraint in statement.columns[0].constraints]
    assert kinds == ["NotNull", "Default", "Check", "ColumnCollate", "ForeignKey"]
    not_null, default, check, _, foreign_key = statement.columns[0].constraints
    assert isinstance(not_null, ast.NotNull)
    assert not_null.name == ast.Name("n", (0, 0))
    assert not_null.on_conflict == "IGNORE"
    assert isinstance(default, ast.Default)
    assert default.text == "-5"
    assert isinstance(check, ast.Check)
    assert check.text == "a > 1"
    assert isinstance(foreign_key, ast.ForeignKey)
    assert foreign_key.deferred
    assert foreign_key.on_delete == "SET NULL"
    assert [type(constraint).__name__ for constraint in statement.constraints] == ["Unique", "ForeignKey"]


def test_walk_finds_columns_in_text_order() -> None:
    statement, _ = parse_statement("select case a when b then c else d end from t where e in (select f from u) order by g")
    assert statement is not None
    assert [ref.column.text for ref in column_refs(statement)] == list("abcdefg")


@pytest.mark.parametrize("sql", ["select 1", "insert into t values(1)", "update t set a=1", "delete from t", "pragma x", "begin", "vacuum"])
def test_repr_and_equality(sql: str) -> None:
    first, _ = parse_statement(sql)
    second, _ = parse_statement("  " + sql)
    assert first == second
    assert repr(first) == repr(second)
