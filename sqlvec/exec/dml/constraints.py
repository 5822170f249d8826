"""NOT NULL, STRICT types and CHECK constraints of one row, in SQLite's order.

NOT NULL goes first, in column order (generated columns in a second pass); ON CONFLICT REPLACE puts the column's default in place.  Then the types of a
STRICT table, then CHECKs in the order of their definition; a CHECK fails only on false, never on NULL.

Follows "CREATE TABLE", "STRICT Tables", "ON CONFLICT" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.dml.index_entries import is_true
from sqlvec.expr.compile import compile_expressions
from sqlvec.values.storage import AFFINITY_FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.physical_dml import TableWrite
    from sqlvec.schema.objects import Column

_VALUE_NAMES = {type(None): "NULL", int: "INT", float: "REAL", str: "TEXT", bytes: "BLOB"}
STRICT_TYPES: dict[str, tuple[type, ...]] = {"INT": (int,), "INTEGER": (int,), "REAL": (float,), "TEXT": (str,), "BLOB": (bytes,)}


class RowConstraints:
    """The checks of one table that need only the row.  Methods return False where the row is to be skipped (IGNORE)."""

    __slots__ = ("checks", "context", "defaults", "generated", "has_any", "not_null", "strict", "table", "write")

    def __init__(self, write: TableWrite, context: Any) -> None:
        self.write = write
        self.table = write.table
        self.context = context
        self.generated = frozenset(number for number, _ in write.generated)
        self.not_null = write.not_null
        ignore_checks = context.settings.ignore_check_constraints
        self.checks = () if ignore_checks else tuple(
            (compile_expressions((expression,), write.columns, context), name) for expression, name in write.checks
        )
        self.strict = tuple(
            (number, column.declared_type, STRICT_TYPES[column.declared_type.upper()])
            for number, column in enumerate(self.table.columns)
            if column.declared_type.upper() in STRICT_TYPES and number not in self.generated
        ) if self.table.strict else ()
        self.defaults: dict[int, Any] = {}

    def default(self, number: int) -> Any:
        """The value that ON CONFLICT REPLACE puts in place of a NULL."""
        expression = self.write.defaults[number]
        if expression is None:
            return None
        if isinstance(expression, errors.SqlError):
            raise expression
        value = compile_expressions((expression,), (), self.context)(())[0]
        return AFFINITY_FUNCTIONS[self.table.columns[number].affinity](value)

    def check_not_null(self, image: list[Any], override: str | None, generated: bool) -> bool:
        """NOT NULL of ordinary (or of generated) columns; may change the image."""
        for number, own in self.not_null:
            if image[number] is not None or (number in self.generated) != generated:
                continue
            action = override or own
            if action == "IGNORE":
                return False
            if action == "REPLACE":
                image[number] = None if generated else self.default(number)
                if image[number] is not None:
                    continue
                action = "ABORT"
            raise fails(errors.not_null_failed(self.table.name, self.table.columns[number].name), action)
        return True

    def check_types(self, image: list[Any]) -> None:
        """STRICT: each value must be of its column's type; generated columns escape, only ``PRAGMA integrity_check`` sees them."""
        for number, declared, allowed in self.strict:
            value = image[number]
            if value is not None and type(value) not in allowed:
                column: Column = self.table.columns[number]
                raise errors.strict_type_failed(_VALUE_NAMES.get(type(value), "TEXT"), declared.upper(), self.table.name, column.name)

    def check_checks(self, image: tuple[Any, ...], override: str | None, checks: tuple[Any, ...]) -> bool:
        """CHECK constraints (all, or those that an UPDATE concerns); REPLACE acts as ABORT."""
        for function, name in checks:
            value = function(image)[0]
            if value is None or is_true(value):
                continue
            if override == "IGNORE":
                return False
            raise fails(errors.check_failed(name), "ABORT" if override in (None, "REPLACE") else override)
        return True


def fails(error: errors.SqlError, action: str) -> errors.SqlError:
    """Mark an error with the conflict action that says what of the statement or transaction is undone."""
    error.action = action
    return error
