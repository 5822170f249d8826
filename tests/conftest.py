"""Shared fixtures: the oracle (the real SQLite, when it is 3.40.1) and the engine matrix."""
from __future__ import annotations

import importlib
import shutil
import subprocess

import pytest


def find_oracle() -> object | None:
    """Python's sqlite3 module when it is built on SQLite 3.40.1."""
    try:
        module = importlib.import_module("sqlite3")
    except ImportError:
        return None
    return module if module.sqlite_version == "3.40.1" else None


def find_shell() -> str | None:
    """The sqlite3 program when it is 3.40.1."""
    path = shutil.which("sqlite3")
    if path is None:
        return None
    answer = subprocess.run([path, "-version"], capture_output=True, text=True, check=False).stdout
    return path if answer.startswith("3.40.1") else None


@pytest.fixture(scope="session")
def oracle():
    """The sqlite3 module of SQLite 3.40.1, for differential tests."""
    module = find_oracle()
    if module is None:
        pytest.skip("needs Python's sqlite3 module on SQLite 3.40.1")
    return module


@pytest.fixture(scope="session")
def shell() -> str:
    """Path of the sqlite3 program, version 3.40.1."""
    path = find_shell()
    if path is None:
        pytest.skip("needs the sqlite3 program, version 3.40.1")
    return path
