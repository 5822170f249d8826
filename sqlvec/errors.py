"""Everything that can go wrong, in one place: result codes, extended codes and exact message texts.

One exception class, :class:`SqlError`, carries what SQLite's API reports: primary code, extended code, message and, where the
parser or the name resolver knows it, the offset of the offending token in the statement text.  Every message that a user can
see is born in this module: other rooms say ``raise errors.unique_failed(...)`` and never spell a text themselves.

``offset`` is a character offset into the SQL text handed to ``parse``; the shell turns it into its caret block.

The error tree::

    SqlError                      code, extended, message, offset
    +-- Interrupted               code 9
    +-- Restart (not an error)    private: see exec/vector

Follows the manual's "Result and Error Codes".
"""
from __future__ import annotations

OK = 0
ERROR = 1
INTERNAL = 2
PERM = 3
ABORT = 4
BUSY = 5
LOCKED = 6
NOMEM = 7
READONLY = 8
INTERRUPT = 9
IOERR = 10
CORRUPT = 11
NOTFOUND = 12
FULL = 13
CANTOPEN = 14
PROTOCOL = 15
EMPTY = 16
SCHEMA = 17
TOOBIG = 18
CONSTRAINT = 19
MISMATCH = 20
MISUSE = 21
NOLFS = 22
AUTH = 23
FORMAT = 24
RANGE = 25
NOTADB = 26

ERROR_MISSING_COLLSEQ = 257
CONSTRAINT_CHECK = 275
CONSTRAINT_COMMITHOOK = 531
CONSTRAINT_FOREIGNKEY = 787
CONSTRAINT_FUNCTION = 1043
CONSTRAINT_NOTNULL = 1299
CONSTRAINT_PRIMARYKEY = 1555
CONSTRAINT_TRIGGER = 1811
CONSTRAINT_UNIQUE = 2067
CONSTRAINT_VTAB = 2323
CONSTRAINT_ROWID = 2579
CONSTRAINT_DATATYPE = 3091
BUSY_SNAPSHOT = 517
BUSY_RECOVERY = 261
READONLY_ROLLBACK = 776
READONLY_DIRECTORY = 1544
CANTOPEN_ISDIR = 526
IOERR_READ = 266
IOERR_SHORT_READ = 522
IOERR_WRITE = 778
IOERR_FSYNC = 1034
IOERR_TRUNCATE = 1546
IOERR_FSTAT = 1802
IOERR_DELETE = 2570
ABORT_ROLLBACK = 516


class SqlError(Exception):
    """An SQLite error: ``code`` (primary), ``extended`` code, ``message`` and optional character ``offset`` in the SQL text.

    ``action`` says what a constraint failure undoes: 'ABORT' the statement, 'FAIL' nothing, 'ROLLBACK' the whole transaction."""

    action = "ABORT"

    def __init__(self, code: int, message: str, extended: int = 0, offset: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.extended = extended or code
        self.message = message
        self.offset = offset
        self.phase = ""                 # where SQLite would find it, when it isn't where it was raised: prepare | step
        self.action = "ABORT"           # what the failing statement does to the transaction: ABORT | FAIL | ROLLBACK (set by exec/dml)
        self.sql_start = 0              # where the failing statement begins in the text it came from (set by the shell)


class Interrupted(SqlError):
    """Raised at a safe point after an interrupt was requested."""

    def __init__(self) -> None:
        super().__init__(INTERRUPT, "interrupted")


# --- parsing ---------------------------------------------------------------------------------------------------------------


def syntax_error(token: str, offset: int | None) -> SqlError:
    return SqlError(ERROR, f'near "{token}": syntax error', offset=offset)


def incomplete_input() -> SqlError:
    return SqlError(ERROR, "incomplete input")


def unrecognized_token(token: str, offset: int) -> SqlError:
    return SqlError(ERROR, f'unrecognized token: "{token}"', offset=offset)


def parser_stack_overflow() -> SqlError:
    return SqlError(ERROR, "parser stack overflow")


def expression_too_deep(limit: int) -> SqlError:
    return SqlError(ERROR, f"Expression tree is too large (maximum depth {limit})")


def parameter_out_of_range(limit: int, offset: int) -> SqlError:
    return SqlError(ERROR, f"variable number must be between ?1 and ?{limit}", offset=offset)


def too_many_variables() -> SqlError:
    return SqlError(ERROR, "too many SQL variables")


def too_many_arguments(name: str, offset: int | None) -> SqlError:
    return SqlError(ERROR, f"too many arguments on function {name}", offset=offset)


def too_many_terms_in_compound() -> SqlError:
    return SqlError(ERROR, "too many terms in compound SELECT")


def too_many_columns_in(clause: str) -> SqlError:
    """``clause``: 'result set', 'index' or 'set list'."""
    return SqlError(ERROR, f"too many columns in {clause}")


def clause_before_compound(clause: str, operator: str) -> SqlError:
    """``clause``: 'ORDER BY' or 'LIMIT'."""
    return SqlError(ERROR, f"{clause} clause should come after {operator} not before")


def unknown_join_type(words: str, offset: int | None = None) -> SqlError:
    return SqlError(ERROR, f"unknown join type: {words}", offset=offset)


def join_required_before(clause: str) -> SqlError:
    """``clause``: 'ON' or 'USING'."""
    return SqlError(ERROR, f"a JOIN clause is required before {clause}")


def syntax_error_after_column_name(name: str) -> SqlError:
    return SqlError(ERROR, f'syntax error after column name "{name}"')


def unsupported_frame() -> SqlError:
    return SqlError(ERROR, "unsupported frame specification")


def columns_assigned_values(columns: int, values: int) -> SqlError:
    return SqlError(ERROR, f"{columns} columns assigned {values} values")


def order_by_without_limit(statement: str) -> SqlError:
    """``statement``: 'DELETE' or 'UPDATE'."""
    return SqlError(ERROR, f"ORDER BY without LIMIT on {statement}")


def qualified_name_in_trigger() -> SqlError:
    return SqlError(ERROR, "qualified table names are not allowed on INSERT, UPDATE, and DELETE statements within triggers")


def indexed_by_in_trigger(clause: str) -> SqlError:
    """``clause``: 'INDEXED BY' or 'NOT INDEXED'."""
    return SqlError(ERROR, f"the {clause} clause is not allowed on UPDATE or DELETE statements within triggers")


def returning_in_trigger() -> SqlError:
    return SqlError(ERROR, "cannot use RETURNING in a trigger")


def unknown_table_option(option: str) -> SqlError:
    return SqlError(ERROR, f"unknown table option: {option}")


def error_in_generated_column(column: str) -> SqlError:
    return SqlError(ERROR, f'error in generated column "{column}"')


# --- names and expressions ---------------------------------------------------------------------------------------------------


def plain(message: str, offset: int | None = None) -> SqlError:
    """A code-1 error whose text is complete as given (used by the constructors below and for texts that are data)."""
    return SqlError(ERROR, message, offset=offset)


def no_such_table(name: str) -> SqlError:
    return plain(f"no such table: {name}")


def no_such_column(name: str, offset: int | None = None) -> SqlError:
    return plain(f"no such column: {name}", offset)


def ambiguous_column(name: str, offset: int | None = None) -> SqlError:
    return plain(f"ambiguous column name: {name}", offset)


def no_such_function(name: str, offset: int | None = None) -> SqlError:
    return plain(f"no such function: {name}", offset)


def unknown_function(name: str) -> SqlError:
    """A DEFAULT calls what is no scalar function."""
    return plain(f"unknown function: {name}()")


def wrong_argument_count(name: str, offset: int | None = None) -> SqlError:
    return plain(f"wrong number of arguments to function {name}()", offset)


def no_such_collation(name: str) -> SqlError:
    return SqlError(ERROR, f"no such collation sequence: {name}", ERROR_MISSING_COLLSEQ)


# --- running -------------------------------------------------------------------------------------------------------------------


def integer_overflow() -> SqlError:
    return plain("integer overflow")


def datatype_mismatch() -> SqlError:
    return SqlError(MISMATCH, "datatype mismatch")


def frame_offset(which: str, kind: str) -> SqlError:
    """``which`` is starting or ending, ``kind`` integer or number."""
    return plain(f"frame {which} offset must be a non-negative {kind}")


def out_of_memory() -> SqlError:
    return SqlError(NOMEM, "out of memory")


def string_or_blob_too_big() -> SqlError:
    return SqlError(TOOBIG, "string or blob too big")


def unique_failed(columns: str, extended: int = CONSTRAINT_UNIQUE) -> SqlError:
    """``columns`` is the ready list ``t.a, t.b`` or ``index 'name'``."""
    return SqlError(CONSTRAINT, f"UNIQUE constraint failed: {columns}", extended)


def not_null_failed(table: str, column: str) -> SqlError:
    return SqlError(CONSTRAINT, f"NOT NULL constraint failed: {table}.{column}", CONSTRAINT_NOTNULL)


def check_failed(name: str) -> SqlError:
    return SqlError(CONSTRAINT, f"CHECK constraint failed: {name}", CONSTRAINT_CHECK)


def foreign_key_failed() -> SqlError:
    return SqlError(CONSTRAINT, "FOREIGN KEY constraint failed", CONSTRAINT_FOREIGNKEY)


def not_authorized() -> SqlError:
    return plain("not authorized")


def unusable_function(name: str) -> SqlError:
    return plain(f"unable to use function {name} in the requested context")


def escape_not_single() -> SqlError:
    return plain("ESCAPE expression must be a single character")


def pattern_too_complex() -> SqlError:
    return plain("LIKE or GLOB pattern too complex")


def ntile_argument() -> SqlError:
    return plain("argument of ntile must be a positive integer")


def nth_value_argument() -> SqlError:
    return plain("second argument to nth_value must be a positive integer")


def malformed_json() -> SqlError:
    return plain("malformed JSON")


def json_path_error(rest: str) -> SqlError:
    return plain(f"JSON path error near '{rest}'")


def json_blob() -> SqlError:
    return plain("JSON cannot hold BLOB values")


def json_odd_arguments(name: str) -> SqlError:
    return plain(f"{name}() needs an odd number of arguments")


def json_object_arguments() -> SqlError:
    return plain("json_object() requires an even number of arguments")


def json_object_labels() -> SqlError:
    return plain("json_object() labels must be TEXT")


def strict_type_failed(value_type: str, column_type: str, table: str, column: str) -> SqlError:
    return SqlError(CONSTRAINT, f"cannot store {value_type} value in {column_type} column {table}.{column}", CONSTRAINT_DATATYPE)


def trigger_recursion() -> SqlError:
    return plain("too many levels of trigger recursion")


def raised(message: str, action: str) -> SqlError:
    """RAISE(ABORT | FAIL | ROLLBACK, message) of a trigger; ``action`` says how the statement ends."""
    error = SqlError(CONSTRAINT, message, CONSTRAINT_TRIGGER)
    error.action = action
    return error


def series_start_missing() -> SqlError:
    return plain('first argument to "generate_series()" missing or unusable')


def cannot_create(what: str, path: str) -> SqlError:
    return plain(f"failed to create {what}: {path}")


def cannot_write_file(path: str) -> SqlError:
    return plain(f"failed to write file: {path}")


# --- files -----------------------------------------------------------------------------------------------------------------------


def corrupt() -> SqlError:
    return SqlError(CORRUPT, "database disk image is malformed")


def malformed_schema(name: str, detail: str = "") -> SqlError:
    return SqlError(CORRUPT, f"malformed database schema ({name})" + (f" - {detail}" if detail else ""))


def cannot_attach_damaged() -> SqlError:
    """VACUUM of a file whose schema can't be read: its scratch database is attached first, and has no name."""
    return SqlError(CORRUPT, "unable to open database: ")


def not_a_database() -> SqlError:
    return SqlError(NOTADB, "file is not a database")


def busy(extended: int = BUSY) -> SqlError:
    return SqlError(BUSY, "database is locked", extended)


def table_locked(table: str) -> SqlError:
    return SqlError(LOCKED, f"database table is locked: {table}")


def table_locked_plain() -> SqlError:
    return SqlError(LOCKED, "database table is locked")


def readonly(extended: int = READONLY) -> SqlError:
    return SqlError(READONLY, "attempt to write a readonly database", extended)


def cannot_open(extended: int = CANTOPEN) -> SqlError:
    return SqlError(CANTOPEN, "unable to open database file", extended)


def full() -> SqlError:
    return SqlError(FULL, "database or disk is full")


def io_error(extended: int = IOERR) -> SqlError:
    return SqlError(IOERR, "disk I/O error", extended)


def misuse() -> SqlError:
    return SqlError(MISUSE, "bad parameter or other API misuse")


# --- commands ----------------------------------------------------------------------------------------------------------------------


def unknown_database(name: str, offset: int | None = None) -> SqlError:
    return plain(f"unknown database {name}", offset)


def wal_mode_in_transaction(way: str) -> SqlError:
    """``way``: into | out of.  Found out while the pragma runs."""
    error = plain(f"cannot change {way} wal mode from within a transaction")
    error.phase = "step"
    return error


def no_such_module(name: str) -> SqlError:
    """Found out while CREATE VIRTUAL TABLE runs."""
    error = plain(f"no such module: {name}")
    error.phase = "step"
    return error


def reserved_name(name: str) -> SqlError:
    return plain(f"object name reserved for internal use: {name}")


def already_exists(kind: str, name: str, offset: int | None = None) -> SqlError:
    """``kind``: table, view, index or trigger."""
    return plain(f"{kind} {name} already exists", offset)


def already_named(kind: str, name: str) -> SqlError:
    """``there is already a table (or: an index) named N``"""
    return plain(f"there is already {'an' if kind == 'index' else 'a'} {kind} named {name}")


def no_such(kind: str, name: str, offset: int | None = None) -> SqlError:
    """``no such index: N`` and the like."""
    return plain(f"no such {kind}: {name}", offset)


def may_not_be(table: str, what: str) -> SqlError:
    """``table sqlite_master may not be dropped`` and the like."""
    return plain(f"table {table} may not be {what}")


def while_altering(message: str) -> SqlError:
    """An error that ALTER TABLE meets only when it runs."""
    error = plain(message)
    error.phase = "step"
    return error


# --- schema declarations -----------------------------------------------------------------------------------------------------------


def too_many_columns_on(table: str) -> SqlError:
    return plain(f"too many columns on {table}")


def duplicate_column(name: str) -> SqlError:
    return plain(f"duplicate column name: {name}")


def default_not_constant(column: str) -> SqlError:
    return plain(f"default value of column [{column}] is not constant")


def default_on_generated() -> SqlError:
    return plain("cannot use DEFAULT on a generated column")


def generated_in_primary_key() -> SqlError:
    return plain("generated columns cannot be part of the PRIMARY KEY")


def more_than_one_primary_key(table: str) -> SqlError:
    return plain(f'table "{table}" has more than one primary key')


def autoincrement_needs_integer_key() -> SqlError:
    return plain("AUTOINCREMENT is only allowed on an INTEGER PRIMARY KEY")


def autoincrement_without_rowid() -> SqlError:
    return plain("AUTOINCREMENT not allowed on WITHOUT ROWID tables")


def primary_key_missing(table: str) -> SqlError:
    return plain(f"PRIMARY KEY missing on table {table}")


def no_ordinary_column() -> SqlError:
    return plain("must have at least one non-generated column")


def missing_datatype(table: str, column: str) -> SqlError:
    return plain(f"missing datatype for {table}.{column}")


def unknown_datatype(table: str, column: str, declared: str) -> SqlError:
    return plain(f'unknown datatype for {table}.{column}: "{declared}"')


def foreign_key_one_column(column: str, parent: str) -> SqlError:
    return plain(f"foreign key on {column} should reference only one column of table {parent}")


def unknown_foreign_key_column(column: str) -> SqlError:
    return plain(f'unknown column "{column}" in foreign key definition')


def foreign_key_column_count() -> SqlError:
    return plain("number of columns in foreign key does not match the number of columns in the referenced table")


def unsupported_nulls(place: str) -> SqlError:
    return plain(f"unsupported use of NULLS {place}")


def expressions_prohibited_in_keys() -> SqlError:
    return plain("expressions prohibited in PRIMARY KEY and UNIQUE constraints")


def conflicting_on_conflict() -> SqlError:
    return plain("conflicting ON CONFLICT clauses specified")


# --- binding -----------------------------------------------------------------------------------------------------------------------


def prohibited(what: str, where: str, offset: int | None = None) -> SqlError:
    return plain(f"{what} prohibited in {where}", offset)


def non_deterministic_use(name: str, place: str) -> SqlError:
    return plain(f"non-deterministic use of {name}() in {place}")


def access_prohibited(table: str, column: str, schema: str | None) -> SqlError:
    return SqlError(AUTH, f"access to {schema + '.' if schema else ''}{table}.{column} is prohibited")


def authorization_denied() -> SqlError:
    return SqlError(AUTH, "not authorized")


def only_analyzed() -> SqlError:
    return plain("only SELECT, INSERT, UPDATE and DELETE can be analyzed")


class Ignored(Exception):
    """Raised while a statement is prepared that the authorizer wants ignored: it then does nothing."""


def collation_in_use() -> SqlError:
    return SqlError(BUSY, "unable to delete/modify collation sequence due to active statements")


def authorizer_malfunction() -> SqlError:
    return plain("authorizer malfunction")


def function_not_authorized(name: str) -> SqlError:
    return SqlError(AUTH, f"not authorized to use function: {name}")


def misuse_of_aliased_aggregate(name: str) -> SqlError:
    return plain(f"misuse of aliased aggregate {name}")


def misuse_of_aliased_window(name: str) -> SqlError:
    return plain(f"misuse of aliased window function {name}")


def misuse_of_aggregate(name: str, offset: int | None = None) -> SqlError:
    return plain(f"misuse of aggregate: {name}()", offset)


def misuse_of_function(kind: str, name: str, offset: int | None = None) -> SqlError:
    """``kind`` is 'aggregate' or 'window'."""
    return plain(f"misuse of {kind} function {name}()", offset)


def row_value_misused(offset: int | None = None) -> SqlError:
    return plain("row value misused", offset)


def subselect_columns(count: int, expected: int) -> SqlError:
    return plain(f"sub-select returns {count} columns - expected {expected}")


def in_element_terms(count: int, expected: int) -> SqlError:
    return plain(f"IN(...) element has {count} term{'' if count == 1 else 's'} - expected {expected}")


def likelihood_argument(offset: int | None = None) -> SqlError:
    return plain("second argument to likelihood() must be a constant between 0.0 and 1.0", offset)


def not_a_window_function(name: str, offset: int | None = None) -> SqlError:
    return plain(f"{name}() may not be used as a window function", offset)


def filter_on_scalar(name: str, offset: int | None = None) -> SqlError:
    return plain(f"FILTER may not be used with non-aggregate {name}()", offset)


def filter_on_window() -> SqlError:
    return plain("FILTER clause may only be used with aggregate window functions")


def distinct_window() -> SqlError:
    return plain("DISTINCT is not supported for window functions")


def distinct_arguments() -> SqlError:
    return plain("DISTINCT aggregates must have exactly one argument")


def aggregate_in_group_by() -> SqlError:
    return plain("aggregate functions are not allowed in the GROUP BY clause")


def having_without_aggregate() -> SqlError:
    return plain("HAVING clause on a non-aggregate query")


def term_out_of_range(position: int, clause: str, count: int, offset: int | None = None) -> SqlError:
    return plain(f"{ordinal(position)} {clause} BY term out of range - should be between 1 and {count}", offset)


def term_matches_nothing(position: int) -> SqlError:
    return plain(f"{ordinal(position)} ORDER BY term does not match any column in the result set")


def too_many_terms(clause: str) -> SqlError:
    return plain(f"too many terms in {clause} BY clause")


def ordinal(number: int) -> str:
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def compound_arity(operator: str) -> SqlError:
    return plain(f"SELECTs to the left and right of {operator} do not have the same number of result columns")


def values_arity() -> SqlError:
    return plain("all VALUES must have the same number of terms")


def no_tables_specified() -> SqlError:
    return plain("no tables specified")


def cannot_join_using(column: str) -> SqlError:
    return plain(f"cannot join using column {column} - column not present in both tables")


def natural_with_condition() -> SqlError:
    return plain("a NATURAL join may not have an ON or USING clause")


def ambiguous_using(column: str) -> SqlError:
    return plain(f"ambiguous reference to {column} in USING()")


def no_query_solution() -> SqlError:
    return plain("no query solution")


def on_refers_right() -> SqlError:
    return plain("ON clause references tables to its right")


def no_such_index(name: str) -> SqlError:
    return plain(f"no such index: {name}")


def not_a_function(name: str) -> SqlError:
    return plain(f"'{name}' is not a function")


def too_many_table_arguments(name: str, maximum: int) -> SqlError:
    return plain(f"too many arguments on {name}() - max {maximum}")


def too_many_result_columns() -> SqlError:
    return plain("too many columns in result set")


def too_many_from_terms() -> SqlError:
    return plain("too many FROM clause terms, max: 200")


def too_many_join_tables() -> SqlError:
    return plain("at most 64 tables in a join")


def too_many_compound_terms() -> SqlError:
    return plain("too many terms in compound SELECT")


def circular_reference(name: str) -> SqlError:
    return plain(f"circular reference: {name}")


def multiple_recursive_references(name: str) -> SqlError:
    return plain(f"multiple references to recursive table: {name}")


def multiple_recursive_uses(name: str) -> SqlError:
    return plain(f"multiple recursive references: {name}")


def recursive_in_subquery(name: str) -> SqlError:
    return plain(f"recursive reference in a subquery: {name}")


def cte_columns(name: str, values: int, columns: int) -> SqlError:
    return plain(f"table {name} has {values} values for {columns} columns")


def duplicate_with(name: str) -> SqlError:
    return plain(f"duplicate WITH table name: {name}")


def recursive_aggregate() -> SqlError:
    return plain("recursive aggregate queries not supported")


def recursive_window() -> SqlError:
    return plain("cannot use window functions in recursive queries")


def view_columns(view: str, expected: int, count: int) -> SqlError:
    return plain(f"expected {expected} columns for '{view}' but got {count}")


def circular_view(view: str) -> SqlError:
    return plain(f"view {view} is circularly defined")


def no_such_window(name: str) -> SqlError:
    return plain(f"no such window: {name}")


def cannot_override_window(what: str, name: str) -> SqlError:
    return plain(f"cannot override {what} of window: {name}")


def range_needs_one_order() -> SqlError:
    return plain("RANGE with offset PRECEDING/FOLLOWING requires one ORDER BY expression")


def raise_outside_trigger() -> SqlError:
    return plain("RAISE() may only be used within a trigger-program")


def hex_literal_too_big(text: str, offset: int | None = None) -> SqlError:
    return plain(f"hex literal too big: {text}", offset)


def unsafe_use(name: str, offset: int | None = None) -> SqlError:
    return plain(f"unsafe use of {name}()", offset)
