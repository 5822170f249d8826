"""Output modes that know all rows before they print the first: column, table, box, markdown (and qbox, a box with wrapping and quotes).

A cell is cut into lines at newlines and at the wrap width; a row is as high as its highest cell.  Once any row has more than one line, all
rows are set apart (a blank line in column mode, a rule in table and box).  Widths are counted in characters.

Follows section "Changing Output Formats" of the manual's page on the shell.
"""
from __future__ import annotations

from sqlvec.cli.modes import sql_literal
from sqlvec.cli.shell import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.cli.shell import Shell
    from sqlvec.session.statement import Statement

Row = list[list[str]]  # for each column its lines
_SPACES = " \t\n\r\f\x0b"


class Grid:
    """All rows cut into lines, with the column widths."""

    def __init__(self, shell: Shell, statement: Statement) -> None:
        self.rows: list[Row] = []
        self.header: Row = []
        self.failure: BaseException | None = None
        try:
            row = statement.step()
            while row is not None:
                self.rows.append([_cut(shell, self._text(shell, value), column) for column, value in enumerate(row)])
                row = statement.step()
        except Exception as failure:  # the rows so far are printed first
            self.failure = failure
        if self.rows:
            self.header = [_cut(shell, name, column)[:1] for column, name in enumerate(statement.names)]
        self.is_multiline = any(len(cell) > 1 for row in self.rows for cell in row)
        self.widths: list[int] = []
        self.right: list[bool] = []
        for column in range(len(self.header)):
            asked = shell.widths[column] if column < len(shell.widths) else 0
            widest = max((len(line) for row in [self.header, *self.rows] for line in row[column]), default=0)
            self.widths.append(max(abs(asked), widest))
            self.right.append(asked < 0)

    @staticmethod
    def _text(shell: Shell, value: Any) -> str:
        if shell.quote_columns:
            return sql_literal(value).replace("X'", "x'", 1) if isinstance(value, bytes) else sql_literal(value)
        return shell.null_value if value is None else text_of(value)

    def end(self) -> None:
        if self.failure is not None:
            raise self.failure


def _cut(shell: Shell, text: str, column: int) -> list[str]:
    """The lines of a cell: cut at newlines, tabs expanded, wrapped at the column's own width or the mode's wrap."""
    asked = shell.widths[column] if column < len(shell.widths) else 0
    limit = abs(asked) or shell.wrap
    lines: list[str] = []
    for raw in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        part = _expand_tabs(raw)
        if limit <= 0 or len(part) < limit + (not shell.word_wrap):
            lines.append(part)
            continue
        lines.extend(_wrap(part, limit, shell.word_wrap))
    if len(lines) > 1 and not lines[-1] and text.endswith("\n"):
        lines.pop()
    return lines


def _expand_tabs(text: str) -> str:
    if "\t" not in text:
        return text
    pieces: list[str] = []
    width = 0
    for char in text:
        if char == "\t":
            spaces = 8 - width % 8
            pieces.append(" " * spaces)
            width += spaces
        else:
            pieces.append(char)
            width += 1
    return "".join(pieces)


def _wrap(text: str, limit: int, at_words: bool) -> list[str]:
    """Pieces of at most ``limit`` characters; at words, cut behind a blank or else where a word ends, in the second half of the line."""
    lines = []
    while len(text) > limit or (at_words and len(text) == limit):
        place = limit
        if at_words:
            following = text + "\0"
            least = limit // 2
            cut = limit
            while cut > least and text[cut - 1] not in _SPACES:
                cut -= 1
            if cut <= least:
                cut = limit
                while cut > least and _is_word(text[cut - 1]) == _is_word(following[cut]):
                    cut -= 1
            if cut > least:
                place = cut
        lines.append(text[:place])
        text = text[place:]
        while at_words and text[:1] and text[0] in _SPACES:
            text = text[1:]
    if text or not lines:
        lines.append(text)
    return lines


def _is_word(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _line(cells: list[str], widths: list[int], right: list[bool]) -> list[str]:
    return [cell.rjust(width) if is_right else cell.ljust(width) for cell, width, is_right in zip(cells, widths, right, strict=True)]


def _lines(row: Row) -> list[list[str]]:
    """A row as text lines, short cells filled up with nothing."""
    height = max(len(cell) for cell in row)
    return [[cell[index] if index < len(cell) else "" for cell in row] for index in range(height)]


def print_column(shell: Shell, statement: Statement) -> None:
    grid = Grid(shell, statement)
    write = shell.out.write
    if grid.rows:
        if shell.headers:
            for line in _lines(grid.header):
                write("  ".join(_line(line, grid.widths, grid.right)) + "\n")
            write("  ".join("-" * width for width in grid.widths) + "\n")
        for number, row in enumerate(grid.rows):
            if number and grid.is_multiline:
                write("\n")
            for line in _lines(row):
                write("  ".join(_line(line, grid.widths, grid.right)) + "\n")
    grid.end()


def _centred(text: str, width: int) -> str:
    left = (width - len(text)) // 2
    return " " * left + text + " " * (width - len(text) - left)


def _bordered(
    shell: Shell, statement: Statement, top: str, middle: str, bottom: str, bar: str, dash: str, rule_between: bool
) -> None:
    """Rows between bars; ``top``, ``middle``, ``bottom`` are the left, inner and right joints of the rules ('' for no rule)."""
    grid = Grid(shell, statement)
    write = shell.out.write
    if grid.rows:

        def rule(joints: str) -> str:
            return joints[0] + joints[1].join(dash * (width + 2) for width in grid.widths) + joints[2] + "\n" if joints else ""

        write(rule(top))
        for line in _lines(grid.header):
            cells = [_centred(cell, width) for cell, width in zip(line, grid.widths, strict=True)]
            write(f"{bar} " + f" {bar} ".join(cells) + f" {bar}\n")
        write(rule(middle))
        for number, row in enumerate(grid.rows):
            if number and grid.is_multiline and rule_between:
                write(rule(middle))
            for line in _lines(row):
                write(f"{bar} " + f" {bar} ".join(_line(line, grid.widths, grid.right)) + f" {bar}\n")
        write(rule(bottom))
    grid.end()


def print_table(shell: Shell, statement: Statement) -> None:
    _bordered(shell, statement, "+++", "+++", "+++", "|", "-", True)


def print_markdown(shell: Shell, statement: Statement) -> None:
    _bordered(shell, statement, "", "|||", "", "|", "-", False)


def print_box(shell: Shell, statement: Statement) -> None:
    _bordered(shell, statement, "┌┬┐", "├┼┤", "└┴┘", "│", "─", True)
