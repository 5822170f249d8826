"""``python -m sqlvec``: the command-line shell."""
from __future__ import annotations

from sqlvec.cli.shell import console

console()
