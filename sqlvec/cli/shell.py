"""The command-line shell in batch form: arguments, input lines, statements, errors.

Input is read line by line.  Lines pile up until they end a complete statement; that *chunk* is run statement by statement, and an
error ends the chunk.  A line that starts with ``.`` while nothing is pending is a dot-command (cli/dot_commands.py), one with ``#`` a
comment.  SQL given as arguments is run the same way, but the first error ends everything and its code is the exit status.

Errors go to standard error as ``Parse error near line N:`` (while preparing) or ``Runtime error near line N:`` (while stepping), with a
block that shows the place where SQLite knows it (cli/error_text.py).

Only list mode is here; the other modes, the dot-commands, options and the prompt are loaded when first used.

Follows the manual's "Command Line Shell For SQLite".
"""
from __future__ import annotations

import gc
import os
import sys

from sqlvec.cli.output import Output, decode
from sqlvec.errors import SqlError
from sqlvec.functions.registry import ScalarFunction
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.session.session import Session
    from sqlvec.session.statement import Statement

SPACES = " \t\n\r\f\x0b"
COLLECT_AFTER = 100_000        # rows are tuples without cycles: looking for garbage among them at the usual rate is wasted time
RECURSION_LIMIT = 8000  # deep expressions and chains of views; the main thread's stack takes more
DEFECTS = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, RuntimeError, TypeError, ValueError)
EXIT = 2  # what a dot-command returns to end the shell; 1 is an error


class ExitShell(Exception):
    """``.exit CODE`` given: leave at once."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Shell:
    """All settings of one run of the shell, and the ways to run SQL."""

    def __init__(self) -> None:
        self.path: str = ":memory:"
        self.readonly = False
        self.startup_file = ""
        self.prompts: list[str] = []
        self.switches: dict[str, bool] = {}  # of .dbconfig, those that no session setting holds
        self.session: Session | None = None
        self.sessions: list[Any] = []  # of .connection
        self.current = 0
        self.edited: str | None = None
        self.out = Output(1)
        self.mode = "list"
        self.saved_mode: tuple[Any, ...] | None = None
        self.headers = False
        self.headers_were_set = False
        self.column_separator = "|"
        self.row_separator = "\n"
        self.null_value = ""
        self.insert_table = "table"
        self.widths: list[int] = []
        self.wrap = 60
        self.word_wrap = False
        self.quote_columns = False
        self.auto_explain = True
        self.explain_plans = 0
        self.echo = False
        self.bail = False
        self.show_changes = False
        self.timer = False
        self.stats = 0
        self.safe = False
        self.interactive = False
        self.line_number = 0
        self.read_depth = 0
        self.error_count = 0
        self.once = 0
        self.test_case = ""
        self.nonce = ""
        self.parameters_known = False
        self.memory_trace: Any = None
        self.program = sys.argv[0] if sys.argv else "sqlvec"

    # --- the database -------------------------------------------------------------------------------------------------------------------

    def database(self) -> Session:
        """The session, opened at first use; a file that cannot be opened ends the shell."""
        if self.session is None:
            self.open_database()
        assert self.session is not None
        return self.session

    def open_database(self, keep_alive: bool = False) -> None:
        try:
            self.session = resolve("sqlvec.session.session:Session").open(self.path, uri=True, readonly=self.readonly)
        except SqlError as error:
            self.complain(f'Error: unable to open database "{self.path}": {error.message}\n')
            if not keep_alive:
                raise ExitShell(1) from None
            self.session = resolve("sqlvec.session.session:Session").open(":memory:")
        assert self.session is not None
        prepare_session(self, self.session)

    def complain(self, text: str) -> None:
        """Write to standard error, after all output so far."""
        self.out.flush()
        sys.stderr.flush()
        resolve("sqlvec.cli.output:write_all")(2, resolve("sqlvec.cli.output:encode")(text))

    # --- running SQL --------------------------------------------------------------------------------------------------------------------

    def execute(self, sql: str) -> None:
        """Run every statement of ``sql`` and print the rows; the first error is raised with ``phase`` and ``sql_start`` set on it."""
        session = self.database()
        position = _skip(sql, 0)
        length = len(sql)
        while position < length:
            try:
                statement, end = session.prepare(sql, position)
            except SqlError as error:
                error.phase = "prepare"
                error.sql_start = position
                raise
            except DEFECTS as failure:
                raise _defect(failure, "prepare", position) from failure
            if statement is None:
                return
            try:
                self.run_statement(session, statement)
            except SqlError as error:
                if not getattr(error, "phase", ""):
                    error.phase = "step"
                error.sql_start = position
                raise
            except DEFECTS as failure:
                raise _defect(failure, "step", position) from failure
            finally:
                statement.close()
            position = _skip(sql, end)

    def run_statement(self, session: Session, statement: Statement) -> None:
        if statement.parameters:
            resolve("sqlvec.cli.parameters:bind")(self, session, statement)
        if self.explain_plans:
            resolve("sqlvec.cli.explain:show_plan")(self, session, statement)
        mode = self.mode
        if statement.explain is not None and self.auto_explain:
            mode = "explain query plan" if statement.explain == "QUERY PLAN" else "explain"
        if mode == "list":
            print_list(self, statement)
        else:
            resolve("sqlvec.cli.modes:PRINTERS")[mode](self, statement)
        if self.stats:
            resolve("sqlvec.cli.dot_settings:print_statistics")(self)

    def run_chunk(self, sql: str, first_line: int) -> int:
        """Run a chunk of input; 1 after an error, which is reported."""
        clock = resolve("sqlvec.cli.dot_settings:Timer")() if self.timer else None
        failed = 0
        try:
            self.execute(sql)
        except SqlError as error:
            failed = 1
            self.out.flush()
            self.complain(resolve("sqlvec.cli.error_text:near_line")(error, sql, None if self.interactive else first_line))
        if clock is not None:
            clock.print(self)
        if self.show_changes and not failed:
            assert self.session is not None
            transaction = self.session.transaction
            self.out.write(f"changes: {transaction.changes}   total_changes: {transaction.total_changes}\n")
        if self.once:
            resolve("sqlvec.cli.dot_transfer:end_once")(self)
        self.out.end_chunk()
        return failed

    def run_argument(self, text: str) -> int:
        """Run one command-line argument, SQL or a dot-command; the exit status."""
        if text.startswith("."):
            return self.dot_command(text)
        try:
            self.execute(text)
        except SqlError as error:
            self.complain("Error: " + resolve("sqlvec.cli.error_text:in_phase")(error, text) + "\n")
            return error.code
        return 0

    def dot_command(self, line: str) -> int:
        """Run a dot-command: 0, 1 for an error, EXIT to leave."""
        code: int = resolve("sqlvec.cli.dot_commands:run")(self, line)
        return code

    # --- reading input ------------------------------------------------------------------------------------------------------------------

    def process(self, lines: Iterator[str]) -> int:
        """Run lines of input (without their newlines) until they end; the number of errors."""
        pending: list[str] = []
        scanner: Any = None
        first_line = 0
        errors = 0
        self.line_number = 0
        for line in lines:
            self.line_number += 1
            if not pending:
                if not line or _is_blank(line):
                    if self.echo:
                        self.out.write(line + "\n")
                    continue
                if line[0] == "." or line[0] == "#":
                    if self.echo:
                        self.out.write(line + "\n")
                    if line[0] == ".":
                        code = self.dot_command(line)
                        if code == EXIT:
                            break
                        self.out.end_chunk()
                        errors += code != 0
                        if errors and self.bail:
                            break
                    continue
                first_line = self.line_number
                if _is_simple(line):
                    if self.echo:
                        self.out.write(line + "\n")
                    errors += self.run_chunk(line.lstrip(SPACES), first_line)
                    if errors and self.bail:
                        break
                    continue
                scanner = resolve("sqlvec.parse.complete:CompletionScanner")()
                pending.append(line.lstrip(SPACES))
            elif (line.strip(SPACES) == "/" or line.strip(SPACES).lower() == "go") and _would_complete(scanner):
                pending.append(";")
                line = ";"
            else:
                pending.append(line)
            scanner.feed(line + "\n")
            if scanner.is_complete:
                sql = "\n".join(pending)
                pending = []
                if self.echo:
                    self.out.write(sql + "\n")
                errors += self.run_chunk(sql, first_line)
                if errors and self.bail:
                    break
            elif scanner.state == 0 and not scanner.closer:
                if self.echo:
                    self.out.write("\n".join(pending) + "\n")
                pending = []
        if pending and not (errors and self.bail):
            sql = "\n".join(pending)
            if self.echo:
                self.out.write(sql + "\n")
            errors += self.run_chunk(sql, first_line)
        return errors

    def process_file(self, descriptor: int) -> int:
        """Run all lines of an open file."""
        outer_line = self.line_number
        self.read_depth += 1
        try:
            return self.process(read_lines(self, descriptor))
        finally:
            self.read_depth -= 1
            self.line_number = outer_line

    def close(self) -> None:
        self.out.close()
        if self.session is not None:
            self.session.close()


def _defect(failure: BaseException, phase: str, position: int) -> SqlError:
    """A Python exception that no rule foresaw, as an error of the statement; SQLVEC_TRACEBACK shows where it came from."""
    if os.environ.get("SQLVEC_TRACEBACK"):
        sys.excepthook(type(failure), failure, failure.__traceback__)
    error = SqlError(2, f"internal error: {type(failure).__name__}: {failure}")
    error.phase = phase  # type: ignore[attr-defined]
    error.sql_start = position  # type: ignore[attr-defined]
    return error


def _skip(sql: str, position: int) -> int:
    while sql[position : position + 1] in SPACES and position < len(sql):
        position += 1
    return position


def _is_blank(line: str) -> bool:
    """Only blanks and comments."""
    stripped = line.strip(SPACES)
    if not stripped:
        return True
    if stripped[0] not in "-/":
        return False
    position = 0
    while position < len(stripped):
        if stripped[position] in SPACES:
            position += 1
        elif stripped.startswith("--", position):
            return True
        elif stripped.startswith("/*", position):
            end = stripped.find("*/", position + 2)
            if end < 0:
                return False
            position = end + 2
        else:
            return False
    return True


def _is_simple(line: str) -> bool:
    """Surely complete: ends with ``;``, has balanced single quotes, and nothing else that could hide it."""
    if not line.endswith(";") or line.count("'") & 1:
        return False
    if "--" in line or "/*" in line or '"' in line or "[" in line or "`" in line:
        return False
    first = line[:20].lstrip(SPACES)[:7].upper()
    return not first.startswith(("CREATE", "EXPLAIN"))


def _would_complete(scanner: Any) -> bool:
    """Whether the pending text with a ``;`` behind it is complete."""
    return not scanner.closer and scanner.state in (1, 2, 3, 4, 7)


def read_lines(shell: Shell, descriptor: int) -> Iterator[str]:
    """The lines of a file as they come, without line ends; what is printed so far goes out before a wait for input."""
    rest = carried = b""
    while True:
        if descriptor == 0:
            shell.out.flush()
        block = os.read(descriptor, 1 << 16)
        if not block:
            break
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for line in lines:
            if carried or b"\0" in line:
                # a NUL hides the rest of its line, the line end too
                carried += line.partition(b"\0")[0]
                if b"\0" in line:
                    continue
                line, carried = carried, b""
            yield decode(line[:-1] if line.endswith(b"\r") else line)
    rest = carried + rest.partition(b"\0")[0]
    if rest:
        yield decode(rest)


def print_list(shell: Shell, statement: Statement) -> None:
    """List mode: columns joined by the column separator, rows ended by the row separator."""
    write = shell.out.write
    separator = shell.column_separator
    end = shell.row_separator
    null = shell.null_value
    row = statement.step()
    if row is None:
        return
    if shell.headers:
        write(separator.join(statement.names) + end)
    step = statement.step
    while row is not None:
        pieces = []
        for value in row:
            kind = type(value)
            if kind is str:
                pieces.append(value if "\0" not in value else value[: value.index("\0")])
            elif kind is int:
                pieces.append(str(value))
            elif value is None:
                pieces.append(null)
            else:
                pieces.append(text_of(value))
        write(separator.join(pieces) + end)
        row = step()


def text_of(value: Any) -> str:
    """A value that is not NULL as the shell's plain modes print it."""
    if isinstance(value, float):
        return str(resolve("sqlvec.values.numeric_text:real_to_text")(value))
    if isinstance(value, bytes):
        return decode(value.partition(b"\0")[0])
    return str(value).partition("\0")[0]


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


def main(argv: list[str] | None = None) -> int:
    """Run the shell with these arguments (without the program's name); the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION_LIMIT))
    gc.set_threshold(COLLECT_AFTER)
    shell = Shell()
    try:
        return _main(shell, arguments)
    except ExitShell as leaving:
        return leaving.code
    except KeyboardInterrupt:
        return 130
    finally:
        shell.close()


def _main(shell: Shell, arguments: list[str]) -> int:
    rest = list(arguments)
    commands: list[str] = []
    if any(argument.startswith("-") for argument in rest):
        status, rest, commands = resolve("sqlvec.cli.options:apply")(shell, rest)
        if status is not None:
            return int(status)
    if rest:
        shell.path = rest[0]
    elif not shell.interactive and not sys.stdin.isatty():
        shell.path = ":memory:"
    sql = rest[1:]
    home = os.environ.get("HOME")
    startup = shell.startup_file or (home + "/.sqliterc" if home else "")
    if startup and os.path.exists(startup):
        resolve("sqlvec.cli.dot_transfer:run_startup_file")(shell, startup)
    for command in commands:
        status = shell.run_argument(command)
        if status == EXIT and command.startswith("."):
            return 0
        if status and shell.bail:
            return status
    if sql:
        for text in sql:
            status = shell.run_argument(text)
            if status:
                return 0 if status == EXIT and text.startswith(".") else status
        return 0
    if shell.interactive or os.isatty(0):
        return int(resolve("sqlvec.cli.repl:run")(shell))
    _catch_interrupts(shell)
    shell.database()
    return 1 if shell.process_file(0) else 0


def _catch_interrupts(shell: Shell) -> None:
    """SIGINT asks the running statement to stop; a second one ends the shell."""
    resolve("sqlvec.cli.interrupt:install")(shell)


def console() -> None:
    """The console script."""
    status = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass
    os._exit(status)  # everything is closed and flushed: taking the interpreter apart would cost more than a small query
