"""Index objects name their collations; a b-tree compares with functions.  This binds one to the other.

Errors: "no such collation sequence: NAME" when an index that must be searched names an unknown collation.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.key_layout import KeyLayout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.schema.objects import Index
    from sqlvec.values.compare import Collations


def bind_layout(index: Index, collations: Collations, encoding: str) -> KeyLayout:
    """The KeyLayout of an index tree: every field is a key, but for a WITHOUT ROWID table only those of its PRIMARY KEY."""
    key_columns = index.key_count if index.is_table_tree else len(index.columns)
    keys = []
    for field in index.columns[:key_columns]:
        collation = collations.lookup(field.collation)
        if collation is None:
            raise errors.no_such_collation(field.collation)
        keys.append(None if collation.is_binary else collation.key)
    return KeyLayout(key_columns, tuple(field.descending for field in index.columns[:key_columns]), tuple(keys), encoding)
