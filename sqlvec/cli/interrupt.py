"""SIGINT while statements run: the first asks the running statement to stop (``interrupted``), the next ends the shell.

The low-level module is used directly: the standard one would load ``enum`` at every start.
"""
from __future__ import annotations

import _signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.cli.shell import Shell


def install(shell: Shell) -> None:
    asked = [0]

    def interrupt(number: int, frame: object) -> None:
        asked[0] += 1
        if asked[0] > 1 or shell.session is None:
            raise KeyboardInterrupt
        shell.session.set_interrupt()

    try:
        _signal.signal(_signal.SIGINT, interrupt)
    except ValueError:  # not in the main thread: leave signals alone
        return
