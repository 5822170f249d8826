"""The busy timeout: sleep a little longer at each try until the time is used up.  Follows "sqlite3_busy_timeout()" of the manual."""
from __future__ import annotations

import time

DELAYS = (1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100)     # milliseconds


def wait(timeout: int, count: int) -> bool:
    """Sleep before try ``count`` (from 0); False when ``timeout`` milliseconds are used up."""
    delay = DELAYS[min(count, len(DELAYS) - 1)]
    slept = sum(DELAYS[: min(count, len(DELAYS))]) + max(0, count - len(DELAYS)) * DELAYS[-1]
    delay = min(delay, timeout - slept)
    if delay <= 0:
        return False
    time.sleep(delay / 1000)
    return True
