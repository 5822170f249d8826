"""Connection-wide switches that pragmas set, as one plain object.  Defaults are those of the real 3.40.1 build.

``generation`` is bumped by whatever makes compiled plans stale (see ``Settings.changed``).
"""
from __future__ import annotations


class Settings:
    """Pragma flags of one connection."""

    def __init__(self) -> None:
        self.generation = 0
        self.engine = "auto"                    # PRAGMA sqlvec_engine: auto | row | vector (and testing modes)
        self.fullfsync = False
        self.checkpoint_fullfsync = False
        self.foreign_keys = False
        self.defer_foreign_keys = False
        self.recursive_triggers = False
        self.case_sensitive_like = False
        self.reverse_unordered_selects = False
        self.automatic_index = True
        self.count_changes = False
        self.short_column_names = True
        self.full_column_names = False
        self.empty_result_callbacks = False
        self.ignore_check_constraints = False
        self.legacy_alter_table = False
        self.legacy_file_format = False
        self.query_only = False
        self.read_uncommitted = False
        self.trusted_schema = True
        self.writable_schema = False
        self.cell_size_check = False
        self.temp_store = 0
        self.temp_store_directory = ""
        self.analysis_limit = 0
        self.busy_timeout = 0                   # milliseconds
        self.threads = 0
        self.soft_heap_limit = 0
        self.hard_heap_limit = 0
        self.memory_budget = 256 << 20          # bytes the vector engine may hold before it spills
        self.double_quoted_strings = True
        self.limits: dict[str, int] = {}        # run-time limits that were set, by name: "SQLITE_LIMIT_..."

    def changed(self) -> None:
        """Note that compiled plans may be stale."""
        self.generation += 1
