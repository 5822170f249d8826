"""Connecting virtual tables: one VirtualTable object per connection, database and name, made on first use."""
from __future__ import annotations

from sqlvec import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.session.session import Session


def connect(session: Session, database: int, name: str) -> Any:
    """The table object of a stored virtual table, or of an eponymous module; None when neither exists.

    Errors: "no such module: NAME" for a stored table whose module is unknown."""
    key = (database, name.lower())
    known = session.virtual_tables.get(key)
    if known is not None:
        return known
    table = session.databases.catalogs.find_table(session.databases[database].name, name)
    if table is not None and table.kind == "virtual":
        module = session.modules.find(table.module or "")
        if module is None:
            raise errors.plain(f"no such module: {table.module}")
        made = module.connect(session.run_context(), session.databases[database].name, table.name, table.module_arguments, False)
    elif table is None:
        module = session.modules.find(name)
        if module is None or not module.eponymous:
            return None
        made = module.connect(session.run_context(), session.databases[database].name, name, (), False)
    else:
        return None
    session.virtual_tables[key] = made
    return made
