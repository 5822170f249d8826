"""The 100 byte database header at the start of page 1 (file format, section 1.3).

A :class:`FileHeader` is a decoded copy; :func:`set_field` writes single fields into a page image.  Codecs only: no I/O here.
"""
from __future__ import annotations

from struct import Struct

from sqlvec import errors

MAGIC = b"SQLite format 3\0"
VERSION_NUMBER = 3040001
PENDING_BYTE = 0x40000000
SIZE = 100

_U32 = Struct(">I")
_I32 = Struct(">i")

# field -> (offset, signed)
FIELDS = {
    "change_counter": (24, False),
    "page_count": (28, False),
    "freelist_trunk": (32, False),
    "freelist_count": (36, False),
    "schema_cookie": (40, False),
    "schema_format": (44, False),
    "default_cache_size": (48, True),
    "largest_root": (52, False),
    "text_encoding": (56, False),
    "user_version": (60, True),
    "incremental_vacuum": (64, False),
    "application_id": (68, True),
    "version_valid_for": (92, False),
    "library_version": (96, False),
}


def get_field(page: bytes | bytearray, name: str) -> int:
    """One header field of a page-1 image."""
    at, signed = FIELDS[name]
    return int((_I32 if signed else _U32).unpack_from(page, at)[0])


def set_field(page: bytearray, name: str, value: int) -> None:
    """Store one header field, wrapped to 32 bits."""
    _U32.pack_into(page, FIELDS[name][0], value & 0xFFFFFFFF)


class FileHeader:
    """What must be known before any other page can be read."""

    __slots__ = ("page_size", "read_version", "reserved", "usable", "write_version")

    def __init__(self, data: bytes | bytearray) -> None:
        if bytes(data[:16]) != MAGIC or len(data) < SIZE:
            raise errors.not_a_database()
        size = data[16] << 8 | data[17] << 16
        if size < 512 or size > 65536 or size & (size - 1):
            raise errors.not_a_database()
        self.page_size = size
        self.write_version = data[18]
        self.read_version = data[19]
        self.reserved = data[20]
        self.usable = size - self.reserved
        if self.usable < 480 or self.read_version > 2 or bytes(data[21:24]) != b"\x40\x20\x20":
            raise errors.not_a_database()


def fresh_page_one(page_size: int, reserved: int = 0, auto_vacuum: int = 0) -> bytearray:
    """Page 1 of an empty database: a header and an empty table leaf (the schema table)."""
    page = bytearray(page_size)
    page[0:16] = MAGIC
    page[16] = page_size >> 8 & 255
    page[17] = page_size >> 16
    page[18:24] = bytes((1, 1, reserved, 64, 32, 32))
    if auto_vacuum:
        set_field(page, "largest_root", 1)
        set_field(page, "incremental_vacuum", 1 if auto_vacuum == 2 else 0)
    usable = page_size - reserved
    page[100] = 13
    page[105:107] = (usable & 0xFFFF).to_bytes(2, "big")
    return page
