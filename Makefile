# `make run` is all an operator needs; `make test` and `make check` are for changing the code.
# PYTHON names another interpreter to make the virtual environment with.
.PHONY: run setup setup-dev test test-long test-services check bench torture fuzz lock

run: setup
	@exec .venv/bin/python manage.py up $(ARGS)

setup:
	@sh bin/setup runtime

setup-dev:
	@sh bin/setup dev

test: setup-dev
	@.venv/bin/python -m tests.run $(ARGS)

test-long: setup-dev
	@IRIS_TEST_PART=long .venv/bin/pytest $(ARGS)

test-services:
	@sh bin/test-services

check: setup-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

bench: setup-dev
	@.venv/bin/python -m benchmarks $(ARGS)

torture: setup-dev
	@.venv/bin/python -m benchmarks.torture $(ARGS)

# Many more requests than `make test` makes, other ones each time; EXAMPLES for each address and mode.
EXAMPLES ?= 300
fuzz: setup-dev
	@IRIS_FUZZ_EXAMPLES=$(EXAMPLES) .venv/bin/pytest tests/api/test_fuzz.py $(ARGS)

lock:
	@sh bin/lock
