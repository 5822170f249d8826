"""Virtual tables as levels of a join: ``for k1, r1 in open_vtab(...)``."""
from __future__ import annotations

from sqlvec.exec.row.join import RowLoop
from sqlvec.exec.row.schema_values import virtual_table
from sqlvec.schema.objects import ROWID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.schema.objects import Table


def open_vtab(activation: Activation, table: Table, choice: Any, arguments: tuple[Any, ...]) -> Any:
    """The rows of a virtual table for what its best_index chose."""
    context = activation.context
    return virtual_table(context, table).open(choice, arguments, context)


class VtabScanLoop(RowLoop):
    """Rows of a virtual table or table-valued function, with their rowids."""

    def open(self) -> None:
        pipeline, path, number = self.pipeline, self.path, self.number
        emitter = pipeline.emitter
        emitter.named("NULLS", (None,) * 2001)
        arguments = "(" + "".join(f"{pipeline.value(argument)}, " for argument in path.arguments) + ")"
        opener = emitter.named("open_vtab", open_vtab)
        rows = f"{opener}({emitter.activation()}, {emitter.constant(path.table)}, {emitter.constant(path.choice)}, {arguments})"
        if self.nullable:
            rows = f"{pipeline.call('with_null_row')}({rows}, (None, NULLS))"
        pipeline.begin(f"for k{number}, r{number} in {rows}:")
        self.loops = 1
        self.null_test = f"r{number} is NULLS"
        self.register(ROWID, f"k{number}")
        emitter.calls_user_code = True
