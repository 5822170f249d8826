"""The options of the command line.

Two passes, as in the real shell: the first finds what must be known before the database is opened (``-init``, ``-readonly``, ``-batch``,
...), the second, after the start-up file, sets modes and separators.  ``apply`` returns an exit status (or None), the words that are
no options, and the ``-cmd`` commands in order.
"""
from __future__ import annotations

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.cli.shell import Shell

VERSION = "3.40.1 2022-12-28 14:03:47 df5c253c0b3dd24916e4ec7cf77d3db5294cc9fd45ae7b9c5e82ad8197f3alt1"
_WITH_VALUE = frozenset(
    ("separator", "nullvalue", "newline", "cmd", "init", "vfs", "maxsize", "mmap", "heap", "sorterref", "nonce", "memtrace-level", "A-file")
)
_MODES = frozenset(("html", "list", "quote", "line", "column", "json", "markdown", "table", "box", "csv", "ascii", "tabs"))


def apply(shell: Shell, arguments: list[str]) -> tuple[int | None, list[str], list[str]]:
    rest: list[str] = []
    commands: list[str] = []
    position = 0
    while position < len(arguments):
        word = arguments[position]
        position += 1
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        name = word[1:]
        if name.startswith("-"):
            name = name[1:]
        value = ""
        if name in ("lookaside", "pagecache"):
            if position + 1 >= len(arguments):
                return _missing(shell, word), rest, commands
            position += 2
            continue
        if name in _WITH_VALUE:
            if position >= len(arguments):
                return _missing(shell, word), rest, commands
            value = arguments[position]
            position += 1
        if name in ("A", "archive"):
            return resolve("sqlvec.cli.dot_tools:archive_option")(shell, arguments[position:]), rest, commands
        status = _apply_one(shell, name, value, commands)
        if status is None and name in ("version", "help"):
            return 0, rest, commands
        if status == -1:
            shell.complain(f"{shell.program}: Error: unknown option: {word}\nUse -help for a list of options.\n")
            return 1, rest, commands
        if status is not None:
            return status, rest, commands
    return None, rest, commands


def _missing(shell: Shell, word: str) -> int:
    shell.complain(f"{shell.program}: Error: missing argument to {word}\n")
    return 1


def _apply_one(shell: Shell, name: str, value: str, commands: list[str]) -> int | None:
    """Carry out one option; -1 for an unknown one, another number to end with that status."""
    if name in _MODES:
        shell.mode = "list" if name == "tabs" else name
        if name == "csv":
            shell.column_separator = ","
        elif name == "ascii":
            shell.column_separator, shell.row_separator = "\x1f", "\x1e"
        elif name == "tabs":
            shell.column_separator = "\t"
        elif name == "quote":
            shell.column_separator = ","
        return None
    if name in ("header", "headers"):
        shell.headers = shell.headers_were_set = True
    elif name in ("noheader", "noheaders"):
        shell.headers = False
        shell.headers_were_set = True
    elif name == "separator":
        shell.column_separator = value
    elif name == "newline":
        shell.row_separator = value
    elif name == "nullvalue":
        shell.null_value = value
    elif name == "echo":
        shell.echo = True
    elif name == "bail":
        shell.bail = True
    elif name == "cmd":
        commands.append(value)
    elif name == "init":
        shell.startup_file = value
    elif name == "interactive":
        shell.interactive = True
    elif name == "readonly":
        shell.readonly = True
    elif name == "safe":
        shell.safe = True
    elif name == "nonce":
        shell.nonce = value
    elif name == "stats":
        shell.stats = 1
    elif name == "eqp":
        shell.explain_plans = 1
    elif name == "eqpfull":
        shell.explain_plans = 3
    elif name == "vfs":
        if value not in ("unix", "unix-none", "unix-dotfile", "unix-excl", "memdb"):
            shell.complain(f'no such VFS: "{value}"\n')
            return 1
    elif name == "version":
        shell.out.write(VERSION + "\n")
    elif name == "help":
        resolve("sqlvec.cli.help:print_usage")(shell)
        return 0
    elif name not in ("batch", "append", "deserialize", "nofollow", "zip", "maxsize", "mmap", "heap", "sorterref", "memtrace", "multiplex"):
        return -1
    return None
