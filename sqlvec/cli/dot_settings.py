"""Dot-commands that change or show the shell's settings."""
from __future__ import annotations

import os
import time

from sqlvec.cli.dot_commands import ArgumentError, boolean, integer
from sqlvec.cli.modes import tcl_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.cli.shell import Shell

_MODE_NAMES = (
    ("line", "lines"), ("column", "columns"), ("list", "list"), ("html", "html"), ("tcl", "tcl"), ("csv", "csv"), ("tabs", "tabs"),
    ("insert", "insert"), ("quote", "quote"), ("ascii", "ascii"), ("markdown", "markdown"), ("table", "table"), ("box", "box"),
    ("qbox", "qbox"), ("count", "count"), ("off", "off"), ("json", "json"),
)  # fmt: skip
_COLUMNAR = frozenset(("column", "table", "box", "markdown"))
_SHOWN_MODES = {"tabs": "list"}
_LIMITS = (
    ("length", "SQLITE_LIMIT_LENGTH", 1_000_000_000),
    ("sql_length", "SQLITE_LIMIT_SQL_LENGTH", 1_000_000_000),
    ("column", "SQLITE_LIMIT_COLUMN", 2000),
    ("expr_depth", "SQLITE_LIMIT_EXPR_DEPTH", 1000),
    ("compound_select", "SQLITE_LIMIT_COMPOUND_SELECT", 500),
    ("vdbe_op", "SQLITE_LIMIT_VDBE_OP", 250_000_000),
    ("function_arg", "SQLITE_LIMIT_FUNCTION_ARG", 127),
    ("attached", "SQLITE_LIMIT_ATTACHED", 10),
    ("like_pattern_length", "SQLITE_LIMIT_LIKE_PATTERN_LENGTH", 50_000),
    ("variable_number", "SQLITE_LIMIT_VARIABLE_NUMBER", 250_000),
    ("trigger_depth", "SQLITE_LIMIT_TRIGGER_DEPTH", 1000),
    ("worker_threads", "SQLITE_LIMIT_WORKER_THREADS", 0),
)
# name and default of this build; what a switch means to a session is in ``_SESSION_SWITCHES``
_SWITCHES = (
    ("defensive", False), ("dqs_ddl", True), ("dqs_dml", True), ("enable_fkey", False), ("enable_qpsg", False), ("enable_trigger", True),
    ("enable_view", True), ("fts3_tokenizer", True), ("legacy_alter_table", False), ("legacy_file_format", False),
    ("load_extension", True), ("no_ckpt_on_close", False), ("reset_database", False), ("trigger_eqp", False), ("trusted_schema", True),
    ("writable_schema", False),
)  # fmt: skip
_SESSION_SWITCHES = {
    "enable_fkey": "foreign_keys", "legacy_alter_table": "legacy_alter_table", "legacy_file_format": "legacy_file_format",
    "trusted_schema": "trusted_schema", "writable_schema": "writable_schema", "dqs_dml": "double_quoted_strings",
}  # fmt: skip


# --- modes ---------------------------------------------------------------------------------------------------------------------------


def mode(shell: Shell, words: list[str]) -> int:
    """``.mode [MODE [OPTIONS] [TABLE]]``"""
    name = ""
    table = ""
    wrap: int | None = None
    word_wrap: bool | None = None
    quote: bool | None = None
    position = 1
    while position < len(words):
        word = words[position]
        position += 1
        option = word.lstrip("-") if word.startswith("-") else ""
        if option == "wrap" and position < len(words):
            wrap = integer(words[position])
            position += 1
        elif option == "wordwrap" and position < len(words):
            word_wrap = boolean(shell, words[position])
            position += 1
        elif option == "ww":
            word_wrap = True
        elif option == "quote":
            quote = True
        elif option == "noquote":
            quote = False
        elif not name:
            name = word
        elif not table:
            table = word
        elif word.startswith("-"):
            shell.complain(f"unknown option: {word}\noptions:\n  --noquote\n  --quote\n  --wordwrap on/off\n  --wrap N\n  --ww\n")
            return 1
        else:
            shell.complain(f'extra argument: "{word}"\n')
            return 1
    if not name:
        if wrap is None and word_wrap is None and quote is None:
            _show_mode(shell)
            return 0
        name = shell.mode if shell.mode in _COLUMNAR else "column"
        if shell.mode in _COLUMNAR:
            wrap = shell.wrap if wrap is None else wrap
            word_wrap = shell.word_wrap if word_wrap is None else word_wrap
            quote = shell.quote_columns if quote is None else quote
    for short, full in _MODE_NAMES:
        if full.startswith(name) and (len(name) >= 1):
            set_mode(shell, short, table, 60 if wrap is None else max(wrap, 0), bool(word_wrap), quote)
            return 0
    shell.complain(
        "Error: mode should be one of: ascii box column csv html insert json line list markdown qbox quote table tabs tcl\n"
    )
    return 1


def _show_mode(shell: Shell) -> None:
    text = f"current output mode: {_SHOWN_MODES.get(shell.mode, shell.mode)}"
    if shell.mode in _COLUMNAR:
        text += f" --wrap {shell.wrap} --wordwrap {'on' if shell.word_wrap else 'off'} --{'' if shell.quote_columns else 'no'}quote"
    shell.out.write(text + "\n")


def set_mode(shell: Shell, name: str, table: str = "", wrap: int = 60, word_wrap: bool = False, quote: bool | None = None) -> None:
    """Change the mode, and the separators and headers that go with it."""
    if name == "qbox":
        name = "box"
        quote = True
    shell.mode = name
    if name in _COLUMNAR:
        shell.wrap, shell.word_wrap, shell.quote_columns = wrap, word_wrap, bool(quote)
    if name == "column":
        if not shell.headers_were_set:
            shell.headers = True
        shell.row_separator = "\n"
    elif name in ("line", "box", "table", "markdown"):
        if name == "line":
            shell.row_separator = "\n"
    elif name == "list":
        shell.column_separator, shell.row_separator = "|", "\n"
    elif name == "tcl":
        shell.column_separator, shell.row_separator = " ", "\n"
    elif name == "csv":
        shell.column_separator, shell.row_separator = ",", "\r\n"
    elif name == "tabs":
        shell.column_separator = "\t"
    elif name == "quote":
        shell.column_separator, shell.row_separator = ",", "\n"
    elif name == "ascii":
        shell.column_separator, shell.row_separator = "\x1f", "\x1e"
    elif name == "insert":
        shell.insert_table = table or "table"
    if name == "tabs":
        shell.mode = "list"


def _one_boolean(shell: Shell, words: list[str], usage: str) -> bool:
    if len(words) != 2:
        raise ArgumentError(f"Usage: {usage}")
    return boolean(shell, words[1])


def headers(shell: Shell, words: list[str]) -> int:
    shell.headers = _one_boolean(shell, words, ".headers on|off")
    shell.headers_were_set = True
    return 0


def separator(shell: Shell, words: list[str]) -> int:
    if not 2 <= len(words) <= 3:
        raise ArgumentError("Usage: .separator COL ?ROW?")
    shell.column_separator = words[1]
    if len(words) == 3:
        shell.row_separator = words[2]
    return 0


def nullvalue(shell: Shell, words: list[str]) -> int:
    if len(words) != 2:
        raise ArgumentError("Usage: .nullvalue STRING")
    shell.null_value = words[1]
    return 0


def width(shell: Shell, words: list[str]) -> int:
    shell.widths = [integer(word) for word in words[1:]]
    return 0


# --- switches --------------------------------------------------------------------------------------------------------------------------


def echo(shell: Shell, words: list[str]) -> int:
    shell.echo = _one_boolean(shell, words, ".echo on|off")
    return 0


def bail(shell: Shell, words: list[str]) -> int:
    shell.bail = _one_boolean(shell, words, ".bail on|off")
    return 0


def binary(shell: Shell, words: list[str]) -> int:
    _one_boolean(shell, words, ".binary on|off")
    return 0


def changes(shell: Shell, words: list[str]) -> int:
    shell.show_changes = _one_boolean(shell, words, ".changes on|off")
    return 0


def timer(shell: Shell, words: list[str]) -> int:
    shell.timer = _one_boolean(shell, words, ".timer on|off")
    return 0


def scanstats(shell: Shell, words: list[str]) -> int:
    _one_boolean(shell, words, ".scanstats on|off")
    shell.complain("Warning: .scanstats not available in this build.\n")
    return 0


def eqp(shell: Shell, words: list[str]) -> int:
    """``.eqp off|on|trace|trigger|full``"""
    if len(words) != 2:
        raise ArgumentError("Usage: .eqp off|on|trace|trigger|full")
    word = words[1]
    if word == "full":
        shell.explain_plans = 3
    elif word in ("trigger", "trace"):
        shell.explain_plans = 2
    else:
        shell.explain_plans = int(boolean(shell, word))
    return 0


def explain(shell: Shell, words: list[str]) -> int:
    """``.explain [on|off|auto]``"""
    if len(words) < 2 or words[1] == "auto" or boolean(shell, words[1]):
        shell.auto_explain = True
    else:
        shell.auto_explain = False
    return 0


def stats(shell: Shell, words: list[str]) -> int:
    """``.stats [on|off|stmt|vmstep]``"""
    if len(words) == 2:
        word = words[1]
        shell.stats = 2 if word == "stmt" else 3 if word == "vmstep" else int(boolean(shell, word))
    elif len(words) == 1:
        print_statistics(shell)
    else:
        raise ArgumentError("Usage: .stats ?on|off|stmt|vmstep?")
    return 0


def print_statistics(shell: Shell) -> None:
    """What a pure Python engine can tell of ``sqlite3_status``: pages of the files and their caches."""
    session = shell.database()
    shell.out.write(f"Databases open:                      {len(session.run('PRAGMA database_list'))}\n")


def prompt(shell: Shell, words: list[str]) -> int:
    if len(words) >= 2:
        shell.prompts = words[1:3]
    return 0


def print_words(shell: Shell, words: list[str]) -> int:
    shell.out.write(" ".join(words[1:]) + "\n")
    return 0


def timeout(shell: Shell, words: list[str]) -> int:
    shell.database().settings.busy_timeout = max(0, integer(words[1])) if len(words) >= 2 else 0
    return 0


def show(shell: Shell, words: list[str]) -> int:
    """``.show``: all settings, one a line."""
    if len(words) != 1:
        raise ArgumentError("Usage: .show")
    shell.database()
    mode_text = _SHOWN_MODES.get(shell.mode, shell.mode)
    if shell.mode in _COLUMNAR:
        mode_text += f" --wrap {shell.wrap} --wordwrap {'on' if shell.word_wrap else 'off'} --{'' if shell.quote_columns else 'no'}quote"
    rows = (
        ("echo", "on" if shell.echo else "off"),
        ("eqp", ("off", "on", "trigger", "full")[shell.explain_plans]),
        ("explain", "auto" if shell.auto_explain else "off"),
        ("headers", "on" if shell.headers else "off"),
        ("mode", mode_text),
        ("nullvalue", tcl_text(shell.null_value)),
        ("output", shell.out.name),
        ("colseparator", tcl_text(shell.column_separator)),
        ("rowseparator", tcl_text(shell.row_separator)),
        ("stats", ("off", "on", "stmt", "vmstep")[shell.stats]),
        ("width", "".join(f"{number} " for number in shell.widths)),
        ("filename", shell.path),
    )
    for name, value in rows:
        shell.out.write(f"{name:>12}: {value}\n")
    return 0


def limit(shell: Shell, words: list[str]) -> int:
    """``.limit [LIMIT [VALUE]]``"""
    limits = shell.database().limits
    if len(words) == 1:
        for name, constant, default in _LIMITS:
            shell.out.write(f"{name:>20} {limits.get(constant, default)}\n")
        return 0
    if len(words) > 3:
        raise ArgumentError("Usage: .limit NAME ?NEW-VALUE?")
    matches = [row for row in _LIMITS if row[0].startswith(words[1].lower())]
    if len(matches) > 1:
        raise ArgumentError(f'ambiguous limit: "{words[1]}"')
    if not matches:
        raise ArgumentError(f'unknown limit: "{words[1]}"\nenter ".limits" with no arguments for a list.')
    name, constant, default = matches[0]
    if len(words) == 3:
        value = integer(words[2])
        if value >= 0:
            limits[constant] = min(value, default)
    shell.out.write(f"{name:>20} {limits.get(constant, default)}\n")
    return 0


def dbconfig(shell: Shell, words: list[str]) -> int:
    """``.dbconfig [NAME [on|off]]``"""
    settings = shell.database().settings
    switches = shell.switches
    found = False
    for name, default in _SWITCHES:
        if len(words) >= 2 and words[1] != name:
            continue
        found = True
        field = _SESSION_SWITCHES.get(name)
        if len(words) >= 3:
            value = boolean(shell, words[2])
            switches[name] = value
            if field is not None:
                setattr(settings, field, value)
                settings.changed()
        value = bool(getattr(settings, field)) if field is not None else switches.get(name, default)
        shell.out.write(f"{name:>19} {'on' if value else 'off'}\n")
    if len(words) > 1 and not found:
        raise ArgumentError(f'Error: unknown dbconfig "{words[1]}"\nEnter ".dbconfig" with no arguments for a list', 0)
    return 0


class Timer:
    """The clocks of ``.timer on``."""

    def __init__(self) -> None:
        self.real = time.monotonic()
        self.cpu = os.times()

    def print(self, shell: Shell) -> None:
        now = os.times()
        shell.out.write(
            f"Run Time: real {time.monotonic() - self.real:.3f} user {now.user - self.cpu.user:.6f} sys {now.system - self.cpu.system:.6f}\n"
        )
