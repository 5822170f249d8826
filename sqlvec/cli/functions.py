"""What a session has only in the shell: extra SQL functions, collations and modules.

Nothing is made here: names are registered as ``"module:attribute"`` rows, and their modules load at the first call.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.cli.shell import Shell
    from sqlvec.session.session import Session


def prepare_session(shell: Shell, session: Session) -> None:
    """Register the shell's own functions."""
