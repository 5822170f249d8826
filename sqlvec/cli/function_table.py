"""The functions that only the shell has, as rows of functions/registry.py: ``(min_args, max_args, target, words)`` by name."""
from __future__ import annotations

_DECIMAL = "sqlvec.cli.decimal_functions:"
_FILES = "sqlvec.cli.file_functions:"
_HASH = "sqlvec.cli.sha3:"
_IEEE = "sqlvec.cli.ieee754:"
_SHELL = "sqlvec.cli.shell_functions:"

ROWS: dict[str, tuple[tuple[int, int, str, str], ...]] = {
    "decimal": ((1, 1, _DECIMAL + "decimal", ""),),
    "decimal_add": ((2, 2, _DECIMAL + "decimal_add", ""),),
    "decimal_sub": ((2, 2, _DECIMAL + "decimal_sub", ""),),
    "decimal_mul": ((2, 2, _DECIMAL + "decimal_mul", ""),),
    "decimal_cmp": ((2, 2, _DECIMAL + "decimal_cmp", ""),),
    "decimal_sum": ((1, 1, _DECIMAL + "DecimalSum", "aggregate:decimal_sum"),),
    "edit": ((1, 2, _SHELL + "edit", "volatile raises unsafe"),),
    "ieee754": ((1, 1, _IEEE + "ieee754", ""), (2, 2, _IEEE + "ieee754_value", "")),
    "ieee754_exponent": ((1, 1, _IEEE + "exponent", ""),),
    "ieee754_from_blob": ((1, 1, _IEEE + "from_blob", ""),),
    "ieee754_mantissa": ((1, 1, _IEEE + "mantissa", ""),),
    "ieee754_to_blob": ((1, 1, _IEEE + "to_blob", ""),),
    "lsmode": ((1, 1, _FILES + "mode_text", "volatile unsafe"),),
    "readfile": ((1, 1, _FILES + "read_file", "volatile unsafe direct_only raises"),),
    "regexp": ((2, 2, "sqlvec.cli.regexp:regexp", "raises"),),
    "regexpi": ((2, 2, "sqlvec.cli.regexp:regexpi", "raises"),),
    "sha3": ((1, 2, _HASH + "sha3", "raises"),),
    "sha3_query": ((1, 2, _HASH + "sha3_query", "context volatile unsafe direct_only raises"),),
    "shell_add_schema": ((3, 3, _SHELL + "add_schema", "unsafe volatile"),),
    "shell_escape_crnl": ((1, 1, _SHELL + "escape_line_ends", "unsafe volatile"),),
    "shell_idquote": ((1, 1, _SHELL + "quote_identifier", "unsafe volatile"),),
    "shell_int32": ((2, 2, _SHELL + "big_endian_int", "unsafe volatile"),),
    "shell_module_schema": ((1, 1, _SHELL + "module_schema", "unsafe volatile"),),
    "shell_putsnl": ((1, 1, _SHELL + "put_line", "unsafe volatile"),),
    "sqlar_compress": ((1, 1, _FILES + "sqlar_compress", "volatile"),),
    "sqlar_uncompress": ((2, 2, _FILES + "sqlar_uncompress", "volatile raises"),),
    "usleep": ((1, 1, _SHELL + "usleep", "unsafe volatile"),),
    "writefile": ((2, 4, _FILES + "write_file", "volatile unsafe direct_only raises"),),
}
