"""readfile, writefile, lsmode, sqlar_compress, sqlar_uncompress.  Follows the manual's page on the shell, "File I/O Functions"."""
from __future__ import annotations

import os
import stat
import time

from sqlvec import errors
from sqlvec.cli.output import encode
from sqlvec.cli.shell import text_of
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return encode(value if isinstance(value, str) else text_of(value))


def _integer(value: Any) -> int:
    number: int = resolve("sqlvec.values.arithmetic:cast_to_integer_operand")(value)
    return number


def read_file(name: Any) -> bytes | None:
    """The content of a file, NULL if it cannot be read."""
    if name is None:
        return None
    try:
        with open(_bytes(name), "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def write_file(name: Any, data: Any, mode: Any = 0, modified: Any = None) -> int | None:
    """Write a file (or make a directory or a link, as ``mode`` says); the number of bytes."""
    if name is None:
        return None
    path = _bytes(name)
    bits = _integer(mode)
    for is_second in (False, True):
        try:
            return _create(path, data, bits, modified)
        except FileNotFoundError as missing:
            if is_second or not _make_parents(path):
                raise errors.plain(f'failed to write file "{os.fsdecode(path)}"') from missing
        except (OSError, ValueError) as failure:
            if stat.S_ISLNK(bits):
                raise errors.plain(f"failed to create symlink: {os.fsdecode(path)}") from failure
            if stat.S_ISDIR(bits):
                raise errors.plain(f"failed to create directory: {os.fsdecode(path)}") from failure
            if bits == 0:
                return None
            raise errors.plain(f"failed to write file: {os.fsdecode(path)}") from failure
    return None


def _make_parents(path: bytes) -> bool:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError:
        return False
    return True


def _create(path: bytes, data: Any, bits: int, modified: Any) -> int | None:
    written = None
    if stat.S_ISLNK(bits):
        os.symlink(_bytes(data), path)
    elif stat.S_ISDIR(bits):
        if not os.path.isdir(path):
            os.mkdir(path)
        os.chmod(path, bits & 0o777)
    else:
        content = b"" if data is None else _bytes(data)
        with open(path, "wb") as file:
            written = file.write(content)
        if bits & 0o777:
            os.chmod(path, bits & 0o777)
    if modified is not None:
        seconds = _integer(modified)
        os.utime(path, (time.time(), seconds), follow_symlinks=False)
    return written


def mode_text(mode: Any) -> str:
    """A file mode as ``ls -l`` shows it."""
    bits = _integer(mode)
    kind = "l" if stat.S_ISLNK(bits) else "d" if stat.S_ISDIR(bits) else "-" if stat.S_ISREG(bits) else "?"
    return kind + "".join(letter if bits & (0o400 >> place) else "-" for place, letter in enumerate("rwxrwxrwx"))


def sqlar_compress(value: Any) -> Any:
    """A blob compressed, or as it is if that is no gain."""
    if not isinstance(value, bytes):
        return value
    packed: bytes = resolve("zlib:compress")(value)
    return packed if len(packed) < len(value) else value


def sqlar_uncompress(value: Any, size: Any) -> Any:
    length = _integer(size)
    if length <= 0 or value is None or length == len(_bytes(value)):
        return value
    try:
        return resolve("zlib:decompress")(_bytes(value))
    except Exception:
        raise errors.plain("error in uncompress()") from None
