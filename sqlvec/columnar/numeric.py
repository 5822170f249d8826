"""The one place that imports numpy.

numpy starts the thread pool of its linear algebra library when it is imported; nothing here multiplies matrices, so that pool is
held to one thread, which saves a quarter of the import time.  Every numpy room says ``from sqlvec.columnar.numeric import np``.
"""
from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

__all__ = ["np"]
