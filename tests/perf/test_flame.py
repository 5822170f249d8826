"""The writers of call trees: valid JSON and XML, and times that add up."""
from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from itertools import count, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import sqlvec

PERF = Path(__file__).resolve().parents[2] / "perf"
SVG = "{http://www.w3.org/2000/svg}"


def load() -> Any:
    spec = importlib.util.spec_from_file_location("flame_under_test", PERF / "flame.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


flame = load()


def slow() -> int:
    return sum(abs(number) for number in range(20))


def outer() -> list[int]:
    return [slow() + len("<&>") for _ in range(2)]


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Any:
    ticks = count(0, 1000)
    monkeypatch.setattr(flame, "perf_counter_ns", lambda: next(ticks))      # a clock that knows events only
    made = flame.Collector()
    made.start()
    outer()
    slow()
    made.stop()
    return made


def test_the_tree_holds_the_calls(collector: Any) -> None:
    stacks = {tuple(names): spent for names, spent in collector.stacks()}
    assert sum(stacks.values()) == collector.total
    under_outer = [names for names in stacks if names and names[0].startswith("outer (")]
    assert any(name.startswith("slow (") for names in under_outer for name in names)
    assert any(names[-1] == "builtins.len" for names in under_outer)
    alone = sum(spent for names, spent in stacks.items() if names and names[0].startswith("slow ("))
    inside = sum(spent for names, spent in stacks.items() if names in under_outer)
    assert 2 < inside / alone < 2.3          # twice, and the calls of len()


def test_speedscope_file(collector: Any) -> None:
    found = json.loads(flame.speedscope(collector, "a <title>"))
    assert found["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = found["shared"]["frames"]
    assert all(set(frame) == {"name"} for frame in frames)
    assert len({frame["name"] for frame in frames}) == len(frames)
    (profile,) = found["profiles"]
    assert profile["type"] == "sampled"
    assert profile["unit"] == "nanoseconds"
    assert profile["startValue"] == 0
    assert len(profile["samples"]) == len(profile["weights"])
    assert sum(profile["weights"]) == profile["endValue"] == collector.total
    assert all(0 <= number < len(frames) for sample in profile["samples"] for number in sample)
    assert all(sample and frames[sample[0]]["name"] == "all" for sample in profile["samples"])


def test_flame_graph(collector: Any) -> None:
    root = ElementTree.fromstring(flame.flame_graph(collector, "select 1 < 2 & 3"))
    assert root.tag == SVG + "svg"
    assert "select 1 < 2 & 3" in "".join(root.itertext())
    boxes = [(float(rect.get("x", 0)), float(rect.get("y", 0)), float(rect.get("width", 0)), int(group.get("data-nanoseconds", 0)))
             for group in root.iter(SVG + "g") for rect in group.iter(SVG + "rect")]
    bottom = max(y for _, y, _, _ in boxes)
    (base,) = [box for box in boxes if box[1] == bottom]
    assert base[3] == collector.total
    assert base[2] == pytest.approx(flame.WIDTH)
    for x, y, width, spent in boxes:
        assert width == pytest.approx(spent / collector.total * flame.WIDTH, abs=0.01)
        above = [box for box in boxes if box[1] == y - flame.ROW and x - 0.02 <= box[0] and box[0] + box[2] <= x + width + 0.02]
        assert sum(box[3] for box in above) <= spent
        if y != bottom:             # it stands on one box of the row below
            assert sum(box[1] == y + flame.ROW and box[0] - 0.02 <= x and x + width <= box[0] + box[2] + 0.02 for box in boxes) >= 1
    row = sorted(box for box in boxes if box[1] == bottom - flame.ROW)
    assert all(left[0] + left[2] <= right[0] + 0.02 for left, right in pairwise(row))


def test_an_exception_leaves_the_stack_right() -> None:
    def fails() -> None:
        raise ValueError

    def catches() -> None:
        try:
            fails()
        except ValueError:
            slow()

    made = flame.Collector()
    made.start()
    catches()
    made.stop()
    assert any([name.split(" ")[0] for name in names[:2]] == ["catches", "slow"] for names, _ in made.stacks())


def test_the_program(tmp_path: Path) -> None:
    connection = sqlvec.connect(tmp_path / "a.db")
    connection.executescript("CREATE TABLE t(a); INSERT INTO t VALUES(1), (2), (3)")
    connection.close()
    command = [sys.executable, str(PERF / "profile.py"), str(tmp_path / "a.db"), "SELECT sum(a) FROM t", "--flame", str(tmp_path / "a.svg"),
               "--speedscope", str(tmp_path / "a.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(PERF.parent)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 rows, ")
    (profile,) = json.loads((tmp_path / "a.json").read_text())["profiles"]
    assert sum(profile["weights"]) == profile["endValue"] > 0
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag == SVG + "svg"
