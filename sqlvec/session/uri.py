"""``file:`` names: path, ``mode=ro|rw|rwc|memory``, ``immutable=1``, ``cache``, ``vfs``.  Follows "Uniform Resource Identifiers" of the manual."""
from __future__ import annotations

from sqlvec import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def unescape(text: str) -> str:
    """Percent-decoding; a NUL ends the text."""
    if "%" not in text:
        return text
    data = bytearray()
    raw = text.encode("utf-8", "surrogateescape")
    position = 0
    while position < len(raw):
        if raw[position] == 0x25 and len(raw) >= position + 3:
            try:
                data.append(int(raw[position + 1:position + 3], 16))
                position += 3
                continue
            except ValueError:
                pass
        data.append(raw[position])
        position += 1
    return bytes(data).split(b"\0")[0].decode("utf-8", "surrogateescape")


def parse_uri(name: str, options: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """The path (None for memory) and the pager options of a URI.  Errors: "no such access mode: X", "invalid uri authority: X"."""
    rest = name[5:].split("#", 1)[0]
    path, _, query = rest.partition("?")
    if path.startswith("//"):
        authority, slash, path = path[2:].partition("/")
        path = slash + path
        if authority not in ("", "localhost"):
            raise errors.plain(f"invalid uri authority: {authority}")
    options = dict(options)
    is_memory = False
    for part in query.split("&") if query else ():
        key, _, value = part.partition("=")
        key, value = unescape(key), unescape(value)
        if key == "mode":
            if value not in ("ro", "rw", "rwc", "memory"):
                raise errors.plain(f"no such access mode: {value}")
            options["readonly"] = options.get("readonly", False) or value == "ro"
            options["create"] = value == "rwc"
            is_memory = value == "memory"
        elif key == "cache" and value not in ("shared", "private"):
            raise errors.plain(f"no such cache mode: {value}")
        elif key == "immutable":
            options["immutable"] = value.lower() in ("1", "on", "yes", "true")
        elif key == "vfs" and value not in ("unix", "unix-none", "unix-dotfile", "unix-excl"):
            raise errors.plain(f"no such vfs: {value}")
    path = unescape(path)
    return (None if is_memory or path in ("", ":memory:") else path), options
