"""Snippets: small Python programs against the module, with what they print.

A file holds snippets of one topic::

    ### name
    code
    ----
    one line per printed value

In a snippet ``con`` is a connection to a memory database, ``cur`` a cursor of it, ``tmp`` an empty directory; ``p(...)`` prints a value, ``t(f, ...)`` calls
and prints the result, or the exception: class, text, ``sqlite_errorcode`` and ``sqlite_errorname`` (of exceptions that Python itself words, the
class alone).  ``python -m tests.dbapi.snippet_runner --record FILE`` writes the results of the standard module into a file.
"""
from __future__ import annotations

import contextlib
import importlib
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "snippets"
PLAIN = ("TypeError", "AttributeError", "SystemError", "ImportError", "OverflowError")


def read(path: Path) -> list[tuple[str, str, list[str]]]:
    """(name, code, expected lines) of the snippets of a file."""
    parts = re.split(r"^### (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = []
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        code, _, rest = body.partition("----\n")
        found.append((name, code, rest.rstrip("\n").split("\n") if rest.strip("\n") else []))
    return found


def _shown(value: Any, folder: str) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = re.sub(r"sqlvec\.dbapi\.\w+|sqlvec", "sqlite3", re.sub(r"0x[0-9a-f]+", "0xX", text))
    text = re.sub(r"thread id \d+", "thread id N", text).replace(folder, "TMP")
    return text.encode("utf-8", "backslashreplace").decode().replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0")


def _described(error: BaseException) -> tuple[Any, ...]:
    name = type(error).__name__
    if name in PLAIN:
        return (name,)
    codes = [getattr(error, attribute) for attribute in ("sqlite_errorcode", "sqlite_errorname") if hasattr(error, attribute)]
    return (name, str(error), *codes)


def run(module: Any, code: str) -> list[str]:
    """The lines that a snippet prints with a module in the place of sqlite3."""
    lines: list[str] = []
    kept = sys.modules.get("sqlite3"), sys.unraisablehook
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.simplefilter("ignore")

        def show(*values: Any) -> None:
            lines.append(_shown(values[0] if len(values) == 1 else values, folder))

        def attempt(function: Any, *arguments: Any, **options: Any) -> None:
            try:
                result = function(*arguments, **options)
            except BaseException as error:
                show(_described(error))
            else:
                show(result)

        stack.enter_context(contextlib.chdir(folder))
        sys.modules["sqlite3"] = module
        sys.unraisablehook = lambda report: show(("unraisable", type(report.exc_value).__name__, str(report.exc_value)))
        try:
            connection = module.connect(":memory:")
            stack.callback(connection.close)
            names = {"sqlite3": module, "con": connection, "cur": connection.cursor(), "tmp": folder, "p": show, "t": attempt}
            exec(compile("import os, sys\n" + code, "<snippet>", "exec"), names)
        except BaseException as error:
            show(_described(error))
        finally:
            sys.unraisablehook = kept[1]
            if kept[0] is None:
                del sys.modules["sqlite3"]
            else:
                sys.modules["sqlite3"] = kept[0]
    return lines


def record(path: Path) -> None:
    """Write the standard module's results into a file of snippets."""
    module = importlib.import_module("sqlite3")
    found = []
    for name, code, _ in read(path):
        results = run(module, code)
        found.append(f"### {name}\n{code}----\n" + "".join(f"{line}\n" for line in results))
    path.write_text("\n".join(found), encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[2:]:
        record(Path(argument))
