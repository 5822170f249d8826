"""Which function carries out which command, by the class of its statement.

Flags say what the session does around it: WRITES opens a statement frame (an error then undoes the whole command); SCHEMA marks commands that change or
read sqlite_schema, so that Catalogs are checked against the files first; CONTROL marks transaction control, which runs outside any frame.
"""
from __future__ import annotations

WRITES = 1
SCHEMA = 2
CONTROL = 4

COMMANDS: dict[str, tuple[str, int]] = {
    "CreateTable": ("sqlvec.commands.create_table:create_table", WRITES | SCHEMA),
    "CreateIndex": ("sqlvec.commands.create_index:create_index", WRITES | SCHEMA),
    "CreateView": ("sqlvec.commands.create_view_trigger:create_view", WRITES | SCHEMA),
    "CreateTrigger": ("sqlvec.commands.create_view_trigger:create_trigger", WRITES | SCHEMA),
    "CreateVirtualTable": ("sqlvec.commands.create_vtab:create_virtual_table", WRITES | SCHEMA),
    "Drop": ("sqlvec.commands.drop:drop", WRITES | SCHEMA),
    "AlterRenameTable": ("sqlvec.commands.alter_rename:rename_table", WRITES | SCHEMA),
    "AlterRenameColumn": ("sqlvec.commands.alter_rename:rename_column", WRITES | SCHEMA),
    "AlterAddColumn": ("sqlvec.commands.alter_column:add_column", WRITES | SCHEMA),
    "AlterDropColumn": ("sqlvec.commands.alter_column:drop_column", WRITES | SCHEMA),
    "Analyze": ("sqlvec.commands.analyze:analyze", WRITES | SCHEMA),
    "Reindex": ("sqlvec.commands.reindex:reindex", WRITES | SCHEMA),
    "Vacuum": ("sqlvec.commands.vacuum:vacuum", SCHEMA),
    "Attach": ("sqlvec.commands.attach:attach", SCHEMA),
    "Detach": ("sqlvec.commands.attach:detach", 0),
    "Begin": ("sqlvec.commands.transaction:begin", CONTROL),
    "Commit": ("sqlvec.commands.transaction:commit", CONTROL),
    "Rollback": ("sqlvec.commands.transaction:rollback", CONTROL),
    "Savepoint": ("sqlvec.commands.transaction:savepoint", CONTROL),
    "Release": ("sqlvec.commands.transaction:release", CONTROL),
    "Pragma": ("sqlvec.commands.pragma:pragma", 0),
}
