"""Dot-commands: how a line is cut into arguments, and which function runs it.

``COMMANDS`` lists the commands in the order in which abbreviations are tried: the first whose name starts with the given word wins, if at
least ``least`` letters are given.  A handler takes the shell and all words, the command first, and returns 0, 1 (error) or 2 (leave the
shell); ``ArgumentError`` from a handler prints its text.

Follows section "Special commands to sqlite3 (dot-commands)" of the manual's page on the shell.
"""
from __future__ import annotations

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.cli.shell import Shell

_SETTINGS = "sqlvec.cli.dot_settings:"
_SCHEMA = "sqlvec.cli.dot_schema:"
_TRANSFER = "sqlvec.cli.dot_transfer:"
_TOOLS = "sqlvec.cli.dot_tools:"

# (name, least number of letters, handler)
COMMANDS: tuple[tuple[str, int, str], ...] = (
    ("archive", 2, _TOOLS + "archive"),
    ("auth", 1, _TOOLS + "auth"),
    ("backup", 3, _TRANSFER + "backup"),
    ("bail", 3, _SETTINGS + "bail"),
    ("binary", 3, _SETTINGS + "binary"),
    ("cd", 2, _TOOLS + "change_directory"),
    ("changes", 3, _SETTINGS + "changes"),
    ("check", 3, _TOOLS + "check"),
    ("clone", 1, _TRANSFER + "clone"),
    ("connection", 1, _TRANSFER + "connection"),
    ("databases", 2, _SCHEMA + "databases"),
    ("dbconfig", 3, _SETTINGS + "dbconfig"),
    ("dbinfo", 3, _TOOLS + "dbinfo"),
    ("dump", 1, "sqlvec.cli.dump:dump"),
    ("echo", 1, _SETTINGS + "echo"),
    ("eqp", 2, _SETTINGS + "eqp"),
    ("excel", 5, _TRANSFER + "excel"),
    ("exit", 2, _TOOLS + "leave"),
    ("expert", 4, _TOOLS + "expert"),
    ("explain", 3, _SETTINGS + "explain"),
    ("filectrl", 1, _TOOLS + "filectrl"),
    ("fullschema", 1, _SCHEMA + "fullschema"),
    ("headers", 1, _SETTINGS + "headers"),
    ("help", 1, "sqlvec.cli.help:show_help"),
    ("import", 1, "sqlvec.cli.import_:import_file"),
    ("imposter", 3, _TOOLS + "imposter"),
    ("indexes", 2, _SCHEMA + "indexes"),
    ("indices", 2, _SCHEMA + "indexes"),
    ("limit", 5, _SETTINGS + "limit"),
    ("lint", 3, _SCHEMA + "lint"),
    ("load", 1, _TOOLS + "load"),
    ("log", 1, _TOOLS + "log"),
    ("mode", 1, _SETTINGS + "mode"),
    ("nonce", 5, _TOOLS + "nonce"),
    ("nullvalue", 1, _SETTINGS + "nullvalue"),
    ("once", 2, _TRANSFER + "once"),
    ("open", 2, _TRANSFER + "open_file"),
    ("output", 1, _TRANSFER + "output"),
    ("parameter", 3, "sqlvec.cli.parameters:parameter"),
    ("print", 3, _SETTINGS + "print_words"),
    ("progress", 1, _TOOLS + "progress"),
    ("prompt", 2, _SETTINGS + "prompt"),
    ("quit", 1, _TOOLS + "quit_shell"),
    ("read", 3, _TRANSFER + "read"),
    ("recover", 1, _TOOLS + "recover"),
    ("restore", 3, _TRANSFER + "restore"),
    ("save", 3, _TRANSFER + "backup"),
    ("scanstats", 1, _SETTINGS + "scanstats"),
    ("schema", 1, _SCHEMA + "schema"),
    ("separator", 2, _SETTINGS + "separator"),
    ("selftest", 4, _TOOLS + "selftest"),
    ("session", 3, _TOOLS + "session"),
    ("sha3sum", 4, _TOOLS + "sha3sum"),
    ("shell", 2, _TOOLS + "system"),
    ("show", 2, _SETTINGS + "show"),
    ("stats", 2, _SETTINGS + "stats"),
    ("system", 2, _TOOLS + "system"),
    ("tables", 2, _SCHEMA + "tables"),
    ("testcase", 8, _TOOLS + "testcase"),
    ("testctrl", 8, _TOOLS + "testctrl"),
    ("timeout", 5, _SETTINGS + "timeout"),
    ("timer", 5, _SETTINGS + "timer"),
    ("trace", 1, _TOOLS + "trace"),
    ("version", 1, _TOOLS + "version"),
    ("vfsinfo", 2, _TOOLS + "vfsinfo"),
    ("vfslist", 4, _TOOLS + "vfslist"),
    ("vfsname", 4, _TOOLS + "vfsname"),
    ("width", 1, _SETTINGS + "width"),
)
_UNSAFE = frozenset(
    ("archive", "auth", "backup", "cd", "clone", "dbconfig", "excel", "import", "imposter", "load", "log", "once", "open", "output", "read",
     "recover", "restore", "save", "shell", "system", "testctrl", "trace")
)  # fmt: skip
_ESCAPES = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


class ArgumentError(Exception):
    """A dot-command that cannot be carried out: ``text`` (without its newline) goes to standard error; ``status`` is its result."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.status = status


def run(shell: Shell, line: str) -> int:
    """Run one line that starts with a point."""
    words = split(line[1:])
    if not words:
        return 0
    name = words[0]
    for full, least, handler in COMMANDS:
        if full.startswith(name) and len(name) >= least:
            if shell.safe and full in _UNSAFE and not (full == "open" and ":memory:" in words):
                what = "open disk-based database files" if full == "open" else f"run .{full}"
                shell.complain(f"line {shell.line_number}: cannot {what} in safe mode\n")
                return resolve("sqlvec.cli.dot_tools:leave_unsafe")(shell)
            try:
                result = int(resolve(handler)(shell, words) or 0)
            except ArgumentError as error:
                shell.complain(error.text + "\n")
                result = error.status
            if shell.once and full not in ("once", "excel"):
                resolve("sqlvec.cli.dot_transfer:end_once")(shell)
            return result
    shell.complain(f'Error: unknown command or invalid arguments:  "{name}". Enter ".help" for help\n')
    return 1


def split(text: str) -> list[str]:
    """The words of a line: ``'...'`` taken as it is, ``"..."`` with backslash escapes."""
    words: list[str] = []
    position = 0
    length = len(text)
    while True:
        while position < length and text[position] in " \t\n\r\f\x0b":
            position += 1
        if position >= length:
            return words
        quote = text[position]
        if quote in "'\"":
            start = position = position + 1
            while position < length and text[position] != quote:
                if text[position] == "\\" and quote == '"' and position + 1 < length:
                    position += 1
                position += 1
            word = text[start:position]
            words.append(unescape(word) if quote == '"' else word)
            position += 1
        else:
            start = position
            while position < length and text[position] not in " \t\n\r\f\x0b":
                position += 1
            words.append(unescape(text[start:position]))


def unescape(text: str) -> str:
    """Backslash escapes: C's letters and up to three octal digits."""
    if "\\" not in text:
        return text
    pieces = []
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char != "\\" or position == len(text):
            pieces.append(char)
            continue
        char = text[position]
        position += 1
        if char in _ESCAPES:
            pieces.append(_ESCAPES[char])
        elif char in "01234567":
            digits = char
            while len(digits) < 3 and position < len(text) and text[position] in "01234567":
                digits += text[position]
                position += 1
            pieces.append(chr(int(digits, 8) & 0xFF))
        else:
            pieces.append(char)
    return "".join(pieces)


def boolean(shell: Shell, word: str) -> bool:
    """A switch: a number, on, off, yes, no; anything else is complained about and means no."""
    if word.isdigit():
        return int(word) != 0
    if word[:2].lower() == "0x" and len(word) > 2 and all(char in "0123456789abcdefABCDEF" for char in word[2:]):
        return int(word, 16) != 0
    lowered = word.lower()
    if lowered in ("on", "yes"):
        return True
    if lowered not in ("off", "no"):
        shell.complain(f'ERROR: Not a boolean value: "{word}". Assuming "no".\n')
    return False


def integer(word: str) -> int:
    """A number with an optional sign, 0x, and a unit such as k, MB or GiB."""
    sign = 1
    if word[:1] in ("-", "+"):
        sign = -1 if word[0] == "-" else 1
        word = word[1:]
    if word[:2] == "0x":
        digits = ""
        for char in word[2:]:
            if char not in "0123456789abcdefABCDEF":
                break
            digits += char
        return sign * int(digits or "0", 16)
    digits = ""
    for char in word:
        if not ("0" <= char <= "9"):
            break
        digits += char
    unit = word[len(digits) :].lower()
    units = {"kib": 1024, "mib": 1 << 20, "gib": 1 << 30, "kb": 1000, "mb": 10**6, "gb": 10**9, "k": 1000, "m": 10**6, "g": 10**9}
    return sign * int(digits or "0") * units.get(unit, 1)
