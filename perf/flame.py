"""Call trees of a run, as a flame graph in SVG and in the file format of speedscope.

:class:`Collector` notes every call of Python and C functions between ``start`` and ``stop`` in one tree: a node stands for a stack of calls and holds the time
spent in its topmost function itself.  The time that the collector needs is left out, as well as that can be done; a run under it is still many times
slower than alone, and small functions look dearer than they are.

Everything is made from one list, ``stacks()``: (stack, nanoseconds) pairs whose times sum to ``total``.
"""
from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import Any
from xml.sax.saxutils import escape, quoteattr

ROW = 17
WIDTH = 1200
NARROWEST = 0.3
COLOURS = ("#e5945b", "#e0b04f", "#d9785f", "#c9a66b", "#e8a87c", "#d4915d", "#e3c16f", "#cf8560")


class Frame:
    """One stack: its topmost function, the time spent in that function itself, and the stacks above."""

    __slots__ = ("above", "below", "name", "nanoseconds")

    def __init__(self, name: str, below: Frame | None) -> None:
        self.name = name
        self.below = below
        self.nanoseconds = 0
        self.above: dict[Any, Frame] = {}

    def total(self) -> int:
        """Its own time and that of the stacks above."""
        return self.nanoseconds + sum(frame.total() for frame in self.above.values())


class Collector:
    """Use between ``start()`` and ``stop()``, in one thread.  ``describe(file, line, name)`` gives the name of a Python function."""

    def __init__(self, describe: Callable[[str, int, str], str] | None = None) -> None:
        self.root = Frame("all", None)
        self._describe = describe or (lambda file, line, name: f"{name} ({file.rsplit('/', 1)[-1]}:{line})")
        self._frame = self.root
        self._since = 0
        self._depth = 0

    def start(self) -> None:
        """Begin; what is on the stack already isn't noted."""
        self._frame = self.root
        self._since = perf_counter_ns()
        sys.setprofile(self._note)

    def stop(self) -> None:
        """End; time since the last call or return belongs to where that led."""
        sys.setprofile(None)
        self._frame.nanoseconds += max(0, perf_counter_ns() - self._since)
        self._frame = self.root

    def _note(self, frame: Any, event: str, argument: Any) -> None:
        here = self._frame
        here.nanoseconds += perf_counter_ns() - self._since
        if event in ("call", "c_call"):
            key = frame.f_code if event == "call" else (getattr(argument, "__module__", None), argument.__qualname__)
            above = here.above.get(key)
            if above is None:
                if event == "call":
                    name = self._describe(key.co_filename, key.co_firstlineno, key.co_name)
                else:
                    name = f"{key[0]}.{key[1]}" if key[0] else key[1]
                above = here.above[key] = Frame(name, here)
            self._frame = above
        elif here.below is not None:
            self._frame = here.below
        self._since = perf_counter_ns()

    @property
    def total(self) -> int:
        """All nanoseconds noted."""
        return self.root.total()

    def stacks(self) -> Iterator[tuple[list[str], int]]:
        """(names from the outermost call to the innermost, nanoseconds) of every stack in which time was spent; the root's own time is a stack of none."""
        waiting: list[tuple[Frame, list[str]]] = [(self.root, [])]
        while waiting:
            frame, names = waiting.pop()
            if frame.nanoseconds:
                yield names, frame.nanoseconds
            waiting.extend((above, [*names, above.name]) for above in frame.above.values())


def speedscope(collector: Collector, title: str) -> str:
    """The tree in the file format of speedscope: one profile of type "sampled", a sample a stack."""
    numbers: dict[str, int] = {}
    samples = []
    weights = []
    for names, nanoseconds in collector.stacks():
        samples.append([numbers.setdefault(name, len(numbers)) for name in ("all", *names)])
        weights.append(nanoseconds)
    return json.dumps({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "sqlvec perf/profile.py",
        "name": title,
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in numbers]},
        "profiles": [{
            "type": "sampled", "name": title, "unit": "nanoseconds", "startValue": 0, "endValue": sum(weights), "samples": samples, "weights": weights,
        }],
    })


def flame_graph(collector: Collector, title: str) -> str:
    """The tree as an SVG picture: a box a stack, as wide as its time, callers below.  Boxes narrower than a third of a pixel are left out.

    Each box is a group with the exact time in ``data-nanoseconds`` and a title that viewers show under the pointer."""
    total = max(1, collector.total)
    boxes: list[tuple[Frame, int, float, int]] = []         # frame, depth, left edge in nanoseconds, time
    waiting: list[tuple[Frame, int, float]] = [(collector.root, 0, 0)]
    deepest = 0
    while waiting:
        frame, depth, left = waiting.pop()
        time = frame.total()
        if time * WIDTH / total < NARROWEST and frame is not collector.root:
            continue
        boxes.append((frame, depth, left, time))
        deepest = max(deepest, depth)
        for above in sorted(frame.above.values(), key=lambda each: each.name):
            waiting.append((above, depth + 1, left))
            left += above.total()
    height = (deepest + 3) * ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fdfaf3"/>',
        f'<text x="{WIDTH / 2}" y="{ROW - 4}" text-anchor="middle">{escape(title)} ({total / 1e6:.1f} ms)</text>',
    ]
    lines += [_box(frame, height - (depth + 1) * ROW - 4, left * WIDTH / total, time * WIDTH / total, time, total) for frame, depth, left, time in boxes]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _box(frame: Frame, top: float, left: float, width: float, time: int, total: int) -> str:
    colour = COLOURS[sum(map(ord, frame.name)) % len(COLOURS)]
    label = f"{frame.name}: {time / 1e6:.3f} ms, {100 * time / total:.1f} %"
    letters = int(width / 6.7)
    text = ""
    if letters >= 3:
        shown = frame.name if len(frame.name) <= letters else frame.name[: letters - 1] + "…"
        text = f'<text x="{left + 2:.2f}" y="{top + ROW - 5:.2f}">{escape(shown)}</text>'
    return (f"<g data-nanoseconds={quoteattr(str(time))}><title>{escape(label)}</title>"
            f'<rect x="{left:.2f}" y="{top:.2f}" width="{width:.2f}" height="{ROW - 1}" fill="{colour}"/>{text}</g>')
