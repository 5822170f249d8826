"""The structure holds: layer order, no cycles, no late import but ``resolve``, numpy and msgpack only where they may be, tables that resolve."""
from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from tests.engines import has_numpy

ROOT = Path(__file__).parent.parent / "sqlvec"

# A room may import rooms of lower rank only, or its own; rooms of equal rank do not know each other.
RANK = {
    "errors": 0, "limits": 1, "settings": 1, "resolve": 0,
    "values": 10, "columnar": 15, "parse": 20, "pages": 20, "pages/columns": 25, "schema": 30, "functions": 40, "vtab": 50, "expr": 60, "plan": 70,
    "database": 80, "exec": 90, "commands": 100, "session": 110, "dbapi": 120, "cli": 120, "__init__": 130, "__main__": 130,
}
FORBIDDEN = {
    ("plan", "pages"), ("functions", "pages"), ("parse", "pages"), ("pages", "parse"), ("pages", "schema"), ("cli", "dbapi"), ("vtab", "parse"),
}
NUMPY_ROOMS = ("columnar", "pages/columns", "exec/vector")


def module_files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    parts = module.split(".")[1:]
    if not parts:
        return "__init__"
    if parts[:2] == ["pages", "columns"]:
        return "pages/columns"
    return parts[0]


def is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def imports(path: Path) -> tuple[set[str], list[int]]:
    """The modules imported at run time at module level, and the lines of imports inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    late: list[int] = []

    def visit(node: ast.AST, in_function: bool) -> None:
        if isinstance(node, ast.If) and is_type_checking(node.test):
            for child in node.orelse:
                visit(child, in_function)
            return
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if in_function:
                late.append(node.lineno)
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            else:
                base = node.module or ""
                found.add(base)
                found.update(f"{base}.{alias.name}" for alias in node.names if (ROOT.parent / base.replace(".", "/") / f"{alias.name}.py").exists())
            return
        inside = in_function or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(tree, False)
    return found, late


ALL = {name_of(path): imports(path) for path in module_files()}
PATHS = {name_of(path): path for path in module_files()}


def own(names: set[str]) -> set[str]:
    return {name for name in names if name == "sqlvec" or name.startswith("sqlvec.")}


@pytest.mark.parametrize("module", sorted(ALL))
def test_imports_go_down(module: str) -> None:
    room = room_of(module)
    for imported in own(ALL[module][0]):
        other = room_of(imported)
        if imported == "sqlvec" or other == room:
            continue
        assert (room.split("/")[0], other.split("/")[0]) not in FORBIDDEN, f"{module} imports {imported}"
        assert RANK[other] < RANK[room], f"{module} imports {imported}, which lies above or beside it"


def test_no_cycles() -> None:
    graph = {module: {name for name in own(found) if name in ALL and name != module} for module, (found, _) in ALL.items()}
    done: set[str] = set()
    path: list[str] = []

    def walk(module: str) -> None:
        if module in done:
            return
        assert module not in path, " -> ".join([*path[path.index(module):], module])
        path.append(module)
        for name in sorted(graph[module]):
            walk(name)
        path.pop()
        done.add(module)

    for module in sorted(graph):
        walk(module)


@pytest.mark.parametrize("module", sorted(ALL))
def test_no_import_inside_functions(module: str) -> None:
    late = ALL[module][1]
    allowed = 1 if module in ALLOWED_LATE else 0
    assert len(late) <= allowed, f"{PATHS[module].name}: imports inside functions at lines {late}"


ALLOWED_LATE: frozenset[str] = frozenset()


@pytest.mark.parametrize("module", sorted(ALL))
def test_third_parties_stay_in_their_rooms(module: str) -> None:
    relative = PATHS[module].relative_to(ROOT).as_posix()
    for name in ALL[module][0]:
        top = name.split(".")[0]
        assert top not in ("sqlite3", "_sqlite3", "ctypes", "apsw"), f"{module} imports {name}"
        if top == "numpy":
            assert relative.startswith(NUMPY_ROOMS), f"{module} imports numpy"
        if top == "msgpack":
            assert relative == "exec/spill.py", f"{module} imports msgpack"


def test_row_engine_does_not_know_the_vector_engine() -> None:
    for module, (found, _) in ALL.items():
        if module.startswith("sqlvec.exec.row"):
            assert not any(name.startswith(("sqlvec.exec.vector", "sqlvec.columnar")) for name in found), module


def late_names() -> list[tuple[str, str]]:
    """Every ``"sqlvec.module:attribute"`` string in the package."""
    found = []
    for module, path in PATHS.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("sqlvec.") and ":" in node.value:
                target, _, attribute = node.value.partition(":")
                if attribute.isidentifier() and " " not in target:
                    found.append((module, node.value))
    return found


@pytest.mark.parametrize("name", sorted({name for _, name in late_names()}))
def test_late_names_resolve(name: str) -> None:
    target, _, attribute = name.partition(":")
    if not has_numpy() and target.startswith(("sqlvec.exec.vector", "sqlvec.columnar", "sqlvec.pages.columns")):
        pytest.skip("needs numpy")
    assert hasattr(importlib.import_module(target), attribute), name
