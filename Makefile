# What a developer needs every day; see README.md.
VENV ?= .venv
PYTHON ?= python3

$(VENV)/bin/sqlvec: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --editable '.[dev]'

.PHONY: test lint types demo perf clean
test: $(VENV)/bin/sqlvec
	$(VENV)/bin/python -m pytest -n 2

lint: $(VENV)/bin/sqlvec
	$(VENV)/bin/ruff check sqlvec tests perf

types: $(VENV)/bin/sqlvec
	$(VENV)/bin/mypy

demo: $(VENV)/bin/sqlvec
	$(VENV)/bin/python perf/data.py sales 200000 sales.db
	$(VENV)/bin/sqlvec -header sales.db "SELECT region, count(*) AS orders, round(sum(amount), 2) AS total FROM orders GROUP BY region ORDER BY total DESC"

clean:
	rm -rf $(VENV) *.egg-info .pytest_cache .mypy_cache .ruff_cache sales.db
