"""Dot-commands that move data or change where it goes: .open .read .output .once .excel .backup .save .restore .clone .connection"""
from __future__ import annotations

import os

from sqlvec.cli.dot_commands import ArgumentError
from sqlvec.cli.dot_schema import query
from sqlvec.cli.dot_settings import set_mode
from sqlvec.cli.output import Output
from sqlvec.errors import SqlError
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.cli.shell import Shell
    from sqlvec.session.session import Session

READ_DEPTH_LIMIT = 25
CONNECTIONS = 5


# --- .open, .connection ------------------------------------------------------------------------------------------------------------------


def open_file(shell: Shell, words: list[str]) -> int:
    """``.open [--new] [--readonly] [--nofollow] [FILE]``"""
    path = ""
    is_new = False
    readonly = False
    for word in words[1:]:
        if word.startswith("-") and len(word) > 1:
            option = word.lstrip("-")
            if option == "new":
                is_new = True
            elif option == "readonly":
                readonly = True
            elif option in ("append", "zip", "nofollow", "deserialize", "hexdb") or option == "maxsize":
                continue
            else:
                shell.complain(f"unknown option: {word}\n")
                return 1
        elif path:
            shell.complain(f'extra argument: "{word}"\n')
            return 1
        else:
            path = word
    if shell.session is not None:
        shell.session.close()
    shell.session = None
    shell.readonly = readonly
    shell.parameters_known = False
    if path or not is_new:
        if is_new and os.path.exists(path):
            os.unlink(path)
        if path:
            shell.path = path
            shell.open_database(keep_alive=True)
            return 0
    shell.path = ":memory:"
    shell.open_database()
    return 0


def connection(shell: Shell, words: list[str]) -> int:
    """``.connection [close] [#]``: several sessions, one of which is current."""
    slots: list[Any] = shell.sessions
    if not slots:
        slots.extend([None] * CONNECTIONS)
        shell.current = 0
    is_unnamed = shell.path == ":memory:" and shell.current > 0
    slots[shell.current] = (shell.session, None if is_unnamed else shell.path)
    if len(words) == 1:
        for number, slot in enumerate(slots):
            if slot is None or (slot[0] is None and number != shell.current):
                continue
            name = "(memory)" if slot[1] is None else slot[1] or "(temporary-file)"
            marker = "ACTIVE " if number == shell.current else "       "
            shell.out.write(f"{marker}{number}: {name}\n")
        return 0
    if len(words) == 2 and words[1].isdigit() and len(words[1]) == 1:
        number = int(words[1])
        if number < len(slots) and number != shell.current:
            shell.current = number
            session, path = slots[number] or (None, ":memory:")
            shell.session, shell.path = session, path or ":memory:"
        return 0
    if len(words) == 3 and words[1] == "close" and words[2].isdigit() and len(words[2]) == 1:
        number = int(words[2])
        if number == shell.current:
            raise ArgumentError("cannot close the active database connection")
        if number < len(slots) and slots[number] is not None and slots[number][0] is not None:
            slots[number][0].close()
            slots[number] = None
        return 0
    raise ArgumentError("Usage: .connection [close] [CONNECTION-NUMBER]")


# --- .read -------------------------------------------------------------------------------------------------------------------------------


def read(shell: Shell, words: list[str]) -> int:
    """``.read FILE`` or ``.read "|command"``: input lines of another file."""
    if len(words) != 2:
        raise ArgumentError("Usage: .read FILE")
    if shell.read_depth > READ_DEPTH_LIMIT:
        raise ArgumentError(f"Input nesting limit ({READ_DEPTH_LIMIT}) reached at line {shell.line_number}. Check recursion.")
    name = words[1]
    process: Any = None
    if name.startswith("|"):
        shell.out.flush()
        process = resolve("subprocess:Popen")(name[1:], shell=True, stdout=resolve("subprocess:PIPE"))
        descriptor = process.stdout.fileno()
    else:
        descriptor = open_for_reading(name)
    try:
        return shell.process_file(descriptor)
    finally:
        if process is not None:
            process.stdout.close()
            process.wait()
        else:
            os.close(descriptor)


def open_for_reading(name: str) -> int:
    try:
        if os.path.isdir(name):
            raise OSError
        return os.open(name, os.O_RDONLY)
    except (OSError, ValueError):
        raise ArgumentError(f'Error: cannot open "{name}"') from None


def run_startup_file(shell: Shell, path: str) -> None:
    """``~/.sqliterc`` or the file of ``-init``."""
    if shell.interactive:
        shell.complain(f"-- Loading resources from {path}\n")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        shell.process_file(descriptor)
    finally:
        os.close(descriptor)
        shell.line_number = 0


# --- .output, .once ------------------------------------------------------------------------------------------------------------------------


def output(shell: Shell, words: list[str]) -> int:
    """``.output [FILE | "|command"]``"""
    return _redirect(shell, words, False)


def once(shell: Shell, words: list[str]) -> int:
    """``.once FILE``: the output of the next chunk only."""
    return _redirect(shell, words, True)


def excel(shell: Shell, words: list[str]) -> int:
    """``.excel``: the next result into a spreadsheet."""
    return _redirect(shell, ["excel", "-x", *words[1:]], True)


def _redirect(shell: Shell, words: list[str], for_once: bool) -> int:
    name = ""
    with_bom = False
    editor = ""
    for word in words[1:]:
        if word.startswith("-"):
            option = word.lstrip("-")
            if option == "bom":
                with_bom = True
            elif option == "x" or option == "e":
                editor = option
            else:
                shell.out.write(f'ERROR: unknown option: "{word}".  Usage:\n')
                _print_usage(shell, words[0])
                return 1
        elif not name and words[0] != "excel":
            name = word
        else:
            shell.out.write(f'ERROR: extra parameter: "{word}".  Usage:\n')
            _print_usage(shell, words[0])
            return 1
    if for_once and not name and not editor:
        name = "stdout"
    shell.once = 2 if for_once else 0
    reset_output(shell)
    if editor:
        return _into_editor(shell, editor)
    if not name or name == "stdout":
        return 0
    if name == "off":
        shell.out = Output(os.open(os.devnull, os.O_WRONLY), "off")
    elif name.startswith("|"):
        process = resolve("subprocess:Popen")(name[1:], shell=True, stdin=resolve("subprocess:PIPE"))
        shell.out = Output(process.stdin.fileno(), name, process)
    elif name == "stderr":
        shell.out = Output(2, name)
    else:
        try:
            shell.out = Output(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), name)
        except OSError:
            shell.once = 0
            raise ArgumentError(f'Error: cannot write to "{name}"') from None
    if with_bom:
        shell.out.write("\ufeff")
    return 0


def _print_usage(shell: Shell, command: str) -> None:
    resolve("sqlvec.cli.help:print_topic")(shell, command)


def reset_output(shell: Shell) -> None:
    """Back to standard output."""
    if shell.out.name == "stdout":
        shell.out.flush()
        return
    edited = shell.edited
    shell.out.close()
    shell.out = Output(1)
    if edited is not None:
        shell.edited = None
        command = f"xdg-open {edited}"
        if os.system(command):
            shell.complain(f"Failed: [{command}]\n")


def end_once(shell: Shell) -> None:
    """A chunk has run after ``.once``."""
    if shell.once > 0:
        shell.once -= 1
        if shell.once == 1:
            shell.once = 0
            reset_output(shell)


def _into_editor(shell: Shell, option: str) -> int:
    """The next output into a temporary file that a program then shows."""
    descriptor, path = resolve("tempfile:mkstemp")(suffix=".csv" if option == "x" else ".txt")
    shell.edited = path
    if option == "x":
        shell.saved_mode = (shell.mode, shell.column_separator, shell.row_separator)
        set_mode(shell, "csv")
    shell.out = Output(descriptor, path)
    return 0


# --- .backup, .restore, .clone -------------------------------------------------------------------------------------------------------------


def _schema_and_file(words: list[str], usage: str) -> tuple[str, str]:
    names: list[str] = []
    for word in words[1:]:
        if word.startswith("-"):
            if word.lstrip("-") in ("append", "async"):
                continue
            raise ArgumentError(f"unknown option: {word}")
        names.append(word)
    if not names:
        raise ArgumentError(usage)
    if len(names) > 2:
        raise ArgumentError("Usage: .backup ?DB? ?OPTIONS? FILENAME")
    return ("main", names[0]) if len(names) == 1 else (names[0], names[1])


def backup(shell: Shell, words: list[str]) -> int:
    """``.backup [DB] FILE`` and ``.save``"""
    schema, path = _schema_and_file(words, "missing FILENAME argument on .backup")
    source = shell.database()
    try:
        target = resolve("sqlvec.session.session:Session").open(path)
    except SqlError:
        raise ArgumentError(f'Error: cannot open "{path}"') from None
    return _copy(source, schema, target, "main", target)


def restore(shell: Shell, words: list[str]) -> int:
    """``.restore [DB] FILE``"""
    if len(words) not in (2, 3):
        raise ArgumentError("Usage: .restore ?DB? FILE")
    schema, path = ("main", words[1]) if len(words) == 2 else (words[1], words[2])
    target = shell.database()
    try:
        source = resolve("sqlvec.session.session:Session").open(path)
    except SqlError:
        raise ArgumentError(f'Error: cannot open "{path}"') from None
    return _copy(source, "main", target, schema, source)


def _copy(source: Session, source_name: str, target: Session, target_name: str, other: Session) -> int:
    try:
        resolve("sqlvec.session.backup:backup")(source, source_name, target, target_name)
    except SqlError as error:
        raise ArgumentError(f"Error: {error.message}") from None
    finally:
        other.close()
    return 0


def clone(shell: Shell, words: list[str]) -> int:
    """``.clone FILE``: copy table by table into a new file."""
    if len(words) != 2:
        raise ArgumentError("Usage: .clone FILENAME")
    path = words[1]
    if os.path.exists(path):
        raise ArgumentError(f'File "{path}" already exists.')
    target = resolve("sqlvec.session.session:Session").open(path)
    try:
        target.run("PRAGMA writable_schema=ON")
        target.run("BEGIN EXCLUSIVE")
        for condition in ("type='table'", "type!='table'"):
            rows = query(shell, f"SELECT name, sql FROM sqlite_schema WHERE {condition} AND sql IS NOT NULL")
            for name, sql in rows:
                _clone_object(shell, target, name, sql, condition == "type='table'")
        target.run("COMMIT")
        target.run("PRAGMA writable_schema=OFF")
    finally:
        target.close()
    return 0


def _clone_object(shell: Shell, target: Session, name: str, sql: str, has_rows: bool) -> None:
    shell.out.write(f"{name}... ")
    try:
        target.run(sql)
    except SqlError as error:
        shell.complain(f"Error: {error.message}\nSQL: [{sql}]\n")
    if has_rows:
        select = 'SELECT * FROM "' + name.replace('"', '""') + '"'
        try:
            rows = shell.database().run(select)
            if rows:
                marks = ",".join("?" * len(rows[0]))
                insert, _ = target.prepare(select.replace("SELECT * FROM", "INSERT OR IGNORE INTO", 1) + f" VALUES({marks})")
                assert insert is not None
                for row in rows:
                    insert.bind(row)
                    insert.step()
        except SqlError as error:
            shell.complain(f"Error {error.code}: {error.message} on [{select}]\n")
    shell.out.write("done\n")


def is_readonly(session: Session, number: int) -> bool:
    """Whether a database of a session cannot be written."""
    return session.databases[number].is_open and bool(session.databases[number].pager.read_only)


def transaction_state(session: Session, number: int) -> str:
    """What ``.databases`` shows of an open transaction."""
    database = session.databases[number]
    if not database.is_open:
        return ""
    if database.pager.in_write:
        return " write-txn"
    return " read-txn" if database.pager.in_read else ""

