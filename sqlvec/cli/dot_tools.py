"""The other dot-commands: leaving, the system's shell, tests, hashes, and those that tell what this build has not got."""
from __future__ import annotations

import os
import sys

from sqlvec.cli.dot_commands import ArgumentError, boolean, integer
from sqlvec.cli.dot_schema import query
from sqlvec.cli.modes import quote_text
from sqlvec.cli.output import Output
from sqlvec.cli.shell import EXIT, ExitShell
from sqlvec.errors import SqlError
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.cli.shell import Shell

_TEST_FILE = "testcase-out.txt"
_FILE_CONTROLS = (
    ("chunk_size", "SIZE"), ("data_version", ""), ("has_moved", ""), ("lock_timeout", "MILLISEC"), ("persist_wal", "[BOOLEAN]"),
    ("psow", "[BOOLEAN]"), ("reserve_bytes", "[N]"), ("size_limit", "[LIMIT]"), ("tempfilename", ""),
)  # fmt: skip
_VFS_NAMES = (("unix", 3, 120, 512), ("memdb", 2, 120, 1024), ("unix-excl", 3, 120, 512), ("unix-dotfile", 3, 120, 512), ("unix-none", 3, 120, 512))


# --- leaving ---------------------------------------------------------------------------------------------------------------------------


def leave(shell: Shell, words: list[str]) -> int:
    """``.exit [CODE]``"""
    if len(words) > 1:
        code = integer(words[1])
        if code:
            raise ExitShell(code & 0xFF)
    return EXIT


def quit_shell(shell: Shell, words: list[str]) -> int:
    return EXIT


def leave_unsafe(shell: Shell) -> int:
    """A forbidden command in safe mode ends the shell."""
    raise ExitShell(1)


def nonce(shell: Shell, words: list[str]) -> int:
    """``.nonce STRING``: the next command may leave safe mode, if the string is right."""
    if not shell.nonce or len(words) != 2 or words[1] != shell.nonce:
        shell.complain(f'line {shell.line_number}: incorrect nonce: "{words[1] if len(words) > 1 else ""}"\n')
        raise ExitShell(1)
    shell.safe = False
    return 0


# --- the system --------------------------------------------------------------------------------------------------------------------------


def system(shell: Shell, words: list[str]) -> int:
    """``.shell COMMAND`` and ``.system COMMAND``"""
    if len(words) < 2:
        raise ArgumentError("Usage: .system COMMAND")
    shell.out.flush()
    command = words[1] + "".join(f' "{word}"' if " " in word else " " + word for word in words[2:])
    status = os.system(command)
    if status:
        shell.complain(f"System command returns {status}\n")
    return 0


def change_directory(shell: Shell, words: list[str]) -> int:
    if len(words) != 2:
        raise ArgumentError("Usage: .cd DIRECTORY")
    try:
        os.chdir(words[1])
    except OSError:
        raise ArgumentError(f'Cannot change to directory "{words[1]}"') from None
    return 0


def version(shell: Shell, words: list[str]) -> int:
    shell.out.write(f"SQLite {resolve('sqlvec.cli.options:VERSION')}\nPython {sys.version.split()[0]}\n")
    return 0


def vfslist(shell: Shell, words: list[str]) -> int:
    for number, (name, level, size, path) in enumerate(_VFS_NAMES):
        if number:
            shell.out.write("-" * 35 + "\n")
        shell.out.write(f'vfs.zName      = "{name}"\nvfs.iVersion   = {level}\nvfs.szOsFile   = {size}\nvfs.mxPathname = {path}\n')
    return 0


def vfsname(shell: Shell, words: list[str]) -> int:
    if shell.session is not None and shell.path not in ("", ":memory:"):
        shell.out.write("unix\n")
    return 0


def vfsinfo(shell: Shell, words: list[str]) -> int:
    if shell.session is not None and shell.path not in ("", ":memory:"):
        name, level, size, path = _VFS_NAMES[0]
        shell.out.write(f'vfs.zName      = "{name}"\nvfs.iVersion   = {level}\nvfs.szOsFile   = {size}\nvfs.mxPathname = {path}\n')
    return 0


def filectrl(shell: Shell, words: list[str]) -> int:
    """``.filectrl CMD``: only what has a meaning here."""
    command = words[1].lstrip("-") if len(words) > 1 else "help"
    if command == "help":
        shell.out.write("Available file-controls:\n" + "".join(f"  .filectrl {name} {usage}\n" for name, usage in _FILE_CONTROLS))
        return 1
    matches = [name for name, _ in _FILE_CONTROLS if name.startswith(command)]
    if not matches:
        raise ArgumentError(f'Error: unknown file-control: {command}\nUse ".filectrl --help" for help')
    if len(matches) > 1:
        raise ArgumentError(f'Error: ambiguous file-control: "{command}"\nUse ".filectrl --help" for help')
    answers = {"size_limit": "-1", "psow": "1", "persist_wal": "0", "reserve_bytes": "0", "has_moved": "0"}
    if matches[0] == "data_version":
        shell.out.write(f"{query(shell, 'PRAGMA data_version')[0][0]}\n")
    elif matches[0] in answers:
        shell.out.write(answers[matches[0]] + "\n")
    return 0


# --- what is accepted and has no effect, and what is missing ----------------------------------------------------------------------------


def auth(shell: Shell, words: list[str]) -> int:
    """``.auth ON|OFF``"""
    if len(words) != 2:
        raise ArgumentError("Usage: .auth ON|OFF")
    boolean(shell, words[1])
    return 0


def log(shell: Shell, words: list[str]) -> int:
    if len(words) != 2:
        raise ArgumentError("Usage: .log FILENAME")
    return 0


def trace(shell: Shell, words: list[str]) -> int:
    return 0


def progress(shell: Shell, words: list[str]) -> int:
    return 0


def load(shell: Shell, words: list[str]) -> int:
    if len(words) < 2:
        raise ArgumentError("Usage: .load FILE ?ENTRYPOINT?")
    raise ArgumentError(f"Error: {words[1]}.so: cannot open shared object file: No such file or directory")


def dbinfo(shell: Shell, words: list[str]) -> int:
    raise ArgumentError("error: no such table: sqlite_dbpage")


def recover(shell: Shell, words: list[str]) -> int:
    """``.recover`` needs a table that this build lacks, as does the real one."""
    shell.complain("sql error: SQL logic error (1)\n")
    shell.out.write("BEGIN;\nPRAGMA writable_schema = on;\n")
    for name in ("encoding", "page_size", "auto_vacuum", "user_version", "application_id"):
        shell.out.write(f"PRAGMA {name} = '{query(shell, 'PRAGMA ' + name)[0][0]}';\n")
    return 1


def expert(shell: Shell, words: list[str]) -> int:
    raise ArgumentError("Error: .expert is not available")


def imposter(shell: Shell, words: list[str]) -> int:
    raise ArgumentError("Usage: .imposter INDEX IMPOSTER\n       .imposter off" if len(words) != 3 else "Error: .imposter is not available")


def testctrl(shell: Shell, words: list[str]) -> int:
    raise ArgumentError("Error: .testctrl is not available")


def session(shell: Shell, words: list[str]) -> int:
    raise ArgumentError("Error: .session is not available")


def archive(shell: Shell, words: list[str]) -> int:
    raise ArgumentError("Error: .archive is not available")


def archive_option(shell: Shell, arguments: list[str]) -> int:
    """``-A``"""
    shell.complain("Error: .archive is not available\n")
    return 1


# --- tests and hashes --------------------------------------------------------------------------------------------------------------------


def testcase(shell: Shell, words: list[str]) -> int:
    """``.testcase NAME``: output goes to a file until ``.check``."""
    resolve("sqlvec.cli.dot_transfer:reset_output")(shell)
    shell.out = Output(os.open(_TEST_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), _TEST_FILE)
    shell.test_case = words[1] if len(words) > 1 else "?"
    return 0


def check(shell: Shell, words: list[str]) -> int:
    """``.check GLOB``: whether the output since ``.testcase`` matches."""
    if len(words) != 2:
        raise ArgumentError("Usage: .check GLOB-PATTERN")
    resolve("sqlvec.cli.dot_transfer:reset_output")(shell)
    try:
        with open(_TEST_FILE, "rb") as file:
            result = resolve("sqlvec.cli.output:decode")(file.read())
    except OSError:
        raise ArgumentError(f"Error: cannot read '{_TEST_FILE}'", 0) from None
    if _matches(words[1], result):
        shell.out.write(f"testcase-{shell.test_case} ok\n")
        return 0
    shell.complain(f"testcase-{shell.test_case} FAILED\n Expected: [{words[1]}]\n      Got: [{result}]\n")
    return 1


def _matches(pattern: str, text: str) -> bool:
    """GLOB in which blanks match any run of blanks, and ``#`` a number; trailing blanks of the text don't count."""
    pieces = []
    position = 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == "*":
            pieces.append(".*")
        elif char == "?":
            pieces.append(".")
        elif char == "#":
            pieces.append("[-+]?[0-9]+")
        elif char.isspace():
            pieces.append(r"\s+")
            while position < len(pattern) and pattern[position].isspace():
                position += 1
        elif char == "[":
            end = pattern.find("]", position + 1)
            if end < 0:
                return False
            body = pattern[position:end]
            pieces.append("[" + ("^" + body[1:] if body[:1] == "^" else body).replace("\\", "\\\\") + "]")
            position = end + 1
        else:
            pieces.append(resolve("re:escape")(char))
    return resolve("re:fullmatch")("(?s:" + "".join(pieces) + r")\s*", text) is not None


def selftest(shell: Shell, words: list[str]) -> int:
    """``.selftest [--init] [-v]``: run the checks of the table SELFTEST."""
    is_init = verbose = False
    for word in words[1:]:
        option = word.lstrip("-")
        if option == "init":
            is_init = True
        elif option == "v":
            verbose = True
        else:
            raise ArgumentError(f'Unknown option "{word}" on "{words[0]}"\nShould be one of: --init -v')
    session_ = shell.database()
    if is_init:
        _create_selftest(shell)
        return 0
    if query(shell, "SELECT 1 FROM sqlite_schema WHERE type='table' AND lower(name)='selftest'"):
        tests = query(shell, "SELECT tno, op, cmd, ans FROM selftest ORDER BY tno")
    else:
        shell.out.write("Missing SELFTEST table - default checks only\n")
        tests = [(0, "memo", "Missing SELFTEST table - default checks only", None), (1, "run", "PRAGMA integrity_check", "ok")]
        tests = tests[1:]
    count = failed = 0
    for number, kind, command, answer in tests:
        if verbose:
            shell.out.write(f"{number}: {kind} {command}\n")
        if kind == "memo":
            shell.out.write(f"{command}\n")
        elif kind == "run":
            count += 1
            try:
                rows = session_.run(command)
                text = " ".join("" if value is None else str(value) for row in rows for value in row)
            except SqlError as error:
                failed += 1
                shell.out.write(f"{number}: error-code-{error.code}: {error.message}\n")
                continue
            if text != (answer or ""):
                failed += 1
                shell.out.write(f"{number}: Expected: [{answer}]\n{number}:      Got: [{text}]\n")
        else:
            shell.complain(f'Unknown operation "{kind}" on selftest line {number}\n')
            return 1
    shell.out.write(f"{failed} errors out of {count} tests\n")
    return 0


def _create_selftest(shell: Shell) -> None:
    session_ = shell.database()
    session_.run("SAVEPOINT selftest_init")
    session_.run(
        "CREATE TABLE IF NOT EXISTS selftest(\n  tno INTEGER PRIMARY KEY,   -- Test number\n  op TEXT,                   -- Operator:  memo run\n"
        "  cmd TEXT,                  -- Command text\n  ans TEXT                   -- Desired answer\n)"
    )
    session_.run("DELETE FROM selftest")
    session_.run("INSERT INTO selftest(tno,op,cmd) VALUES(0,'memo','Tests generated by --init')")
    session_.run("INSERT INTO selftest(op,cmd,ans) VALUES('run','PRAGMA integrity_check','ok')")
    session_.run("RELEASE selftest_init")


def sha3sum(shell: Shell, words: list[str]) -> int:
    """``.sha3sum [--sha3-N] [--schema] [--debug] [LIKE]``: a hash of the content of all tables."""
    bits = 224
    with_schema = False
    pattern = None
    for word in words[1:]:
        option = word.lstrip("-") if word.startswith("-") else ""
        if option == "schema":
            with_schema = True
        elif option in ("sha3-224", "sha3-256", "sha3-384", "sha3-512"):
            bits = int(option[5:])
        elif option == "debug":
            continue
        elif word.startswith("-"):
            raise ArgumentError(f'Unknown option "{word}" on "{words[0]}"')
        elif pattern is not None:
            raise ArgumentError("Usage: .sha3sum ?OPTIONS? ?LIKE-PATTERN?")
        else:
            pattern = word
            if "sqlite_" in pattern.lower():
                with_schema = True
    tables = "SELECT lower(name) FROM sqlite_schema WHERE type='table' AND coalesce(rootpage,0)>1"
    if not with_schema:
        tables += " AND name NOT LIKE 'sqlite__%' ESCAPE '_'"
    statements = []
    if with_schema:
        tables += " UNION ALL SELECT 'sqlite_schema'"
    hashes: list[str] = []
    for (name,) in query(shell, tables + " ORDER BY 1 COLLATE nocase"):
        if pattern is not None and not query(shell, f"SELECT {quote_text(pattern)} LIKE {quote_text(name)}")[0][0]:
            continue
        if not name.startswith("sqlite_"):
            quoted = name.replace('"', '""')
            statements.append(f'SELECT * FROM "{quoted}" NOT INDEXED;')
        elif name == "sqlite_schema":
            statements.append("SELECT type,name,tbl_name,sql FROM sqlite_schema ORDER BY name;")
        elif name == "sqlite_sequence":
            statements.append("SELECT name,seq FROM sqlite_sequence ORDER BY name;")
        elif name == "sqlite_stat1":
            statements.append("SELECT tbl,idx,stat FROM sqlite_stat1 ORDER BY tbl,idx;")
        if pattern is not None and statements:
            rows = query(shell, f"SELECT lower(hex(sha3_query({quote_text(statements.pop())},{bits})))")
            hashes.append(f"{rows[0][0]}|{name}\n")
    if pattern is not None:
        shell.out.write("".join(hashes))
        return 0
    rows = query(shell, f"SELECT lower(hex(sha3_query({quote_text(''.join(statements))},{bits})))")
    shell.out.write(f"{rows[0][0]}\n")
    return 0
