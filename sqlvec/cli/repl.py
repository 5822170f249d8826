"""The prompt: used when standard input is a terminal or ``-interactive`` was given."""
from __future__ import annotations

import sys

from sqlvec.cli.shell import SPACES, ExitShell
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlvec.cli.shell import Shell


def run(shell: Shell) -> int:
    """Read, run, print, until the input ends."""
    shell.interactive = True
    shell.out.write('SQLite version 3.40.1 2022-12-28 14:03:47\nEnter ".help" for usage hints.\n')
    if shell.path == ":memory:":
        shell.out.write('Connected to a transient in-memory database.\nUse ".open FILENAME" to reopen on a persistent database.\n')
    shell.out.flush()
    try:
        resolve("readline:parse_and_bind")
    except ImportError:
        pass
    shell.database()
    pending = [False]
    status = 1 if shell.process(_lines(shell, pending)) else 0
    shell.out.write("\n")
    return status


def _lines(shell: Shell, pending: list[bool]) -> Iterator[str]:
    scanner = resolve("sqlvec.parse.complete:CompletionScanner")()
    while True:
        shell.out.flush()
        main_prompt = shell.prompts[0] if shell.prompts else "sqlite> "
        continuation = shell.prompts[1] if len(shell.prompts) > 1 else "   ...> "
        try:
            line = input(continuation if pending[0] else main_prompt)
        except EOFError:
            return
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            raise ExitShell(130) from None
        if pending[0] or not line.startswith("."):
            scanner.feed(line + "\n")
            pending[0] = bool(scanner.closer) or scanner.state > 1
            if not pending[0]:
                scanner = resolve("sqlvec.parse.complete:CompletionScanner")()
        elif not line.strip(SPACES):
            pending[0] = False
        yield line
