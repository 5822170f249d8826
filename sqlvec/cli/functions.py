"""What a session has only in the shell: extra SQL functions, collations and modules.

Nothing is made here: functions and modules are known by ``"module:attribute"`` names and load at the first call.
"""
from __future__ import annotations

from sqlvec.functions.registry import ScalarFunction
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.cli.shell import Shell
    from sqlvec.session.session import Session


def prepare_session(shell: Shell, session: Session) -> None:
    """Register the shell's own functions, modules and collations."""
    for arity in (1, 2):
        session.functions.define(ScalarFunction("load_extension", arity, arity, "sqlvec.cli.shell_functions:load_extension", 0, may_raise=True))
    session.functions.extra_table = "sqlvec.cli.function_table:ROWS"
    session.extra_modules["generate_series"] = "sqlvec.vtab.series:SeriesModule"
    session.extra_modules["fsdir"] = "sqlvec.cli.fsdir:FsdirModule"
    session.extra_modules["completion"] = "sqlvec.cli.completion:CompletionModule"
    session.collations.register("uint", _compare_uint)
    session.collations.register("decimal", _compare_decimal)


def _compare_uint(left: str, right: str) -> int:
    return int(resolve("sqlvec.cli.collations:compare_uint")(left, right))


def _compare_decimal(left: str, right: str) -> int:
    return int(resolve("sqlvec.cli.decimal_functions:compare_decimal_text")(left, right))
