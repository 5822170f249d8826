"""The one late-import mechanism: names ``"package.module:attribute"`` become objects on first use.

Tables all over the package (statement families, commands, operators, rewrite rules, function families) hold such names instead
of imports, so that a small query loads only the modules it runs, and so that no layer needs to import one above it.
"""
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_resolved: dict[str, Any] = {}


def resolve(name: str) -> Any:
    """Return the object called ``"module:attribute"``, importing its module the first time."""
    found = _resolved.get(name)
    if found is None:
        module, _, attribute = name.partition(":")
        loaded = sys.modules.get(module)
        if loaded is None:
            __import__(module)
            loaded = sys.modules[module]
        found = _resolved[name] = getattr(loaded, attribute)
    return found
