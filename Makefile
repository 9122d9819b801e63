# `make demo` and `make test` do all set-up on a fresh machine: Python 3.11+, git, make and a package index.
PYTHON ?= python3
# The version that most was tried with; the newest Python needs a newer one.
TORCH ?= $(shell $(PYTHON) -c "import sys; print('2.13.0' if sys.version_info < (3, 15) else '2.15.0')")
VENV ?= .venv
SECONDS ?= 60
BIN := $(VENV)/bin
DEMO ?= traceview-demo
# Names of old frameworks for `make legacy`; all of them when left out.
LEGACY ?=

# Hundreds of processes that tests start import the package and what it needs: those are compiled once.
unexport PYTHONDONTWRITEBYTECODE

# Where environments of frameworks lie, which samples/environments.toml describes.
ENVIRONMENTS ?= .

.PHONY: demo install test test-all check lint types quick dist try-wheel site picture bench fuzz frameworks legacy clean

# Installs again only when the project's own requirements change. For a small CPU build of torch on a machine whose
# index offers CUDA builds first: make demo PIP_EXTRA_INDEX_URL=<the index of CPU builds>.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	.ci/install $(VENV) "torch==$(TORCH)" --editable ".[dev]"
	touch $@

install: $(VENV)/.installed

demo: $(VENV)/.installed
	rm -rf $(DEMO)
	$(BIN)/traceview collect -o $(DEMO) -- $(BIN)/python samples/training/alexnet_torch.py
	$(BIN)/traceview report $(DEMO)

check: lint types

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(VENV)/.installed
	$(BIN)/mypy

# What takes seconds comes first; mypy needs one core for half a minute, and tests do not always need all.
test: lint
	$(MAKE) --no-print-directory --jobs=2 types quick

# With LEAVE_OUT=long what `.ci/run` runs. PART="and shared" (what reads public traces) or PART="and not shared"; FILES that hold it.
LEAVE_OUT ?= slow or long
quick: $(VENV)/.installed
	$(BIN)/pytest -n auto --dist worksteal -m "not ($(LEAVE_OUT)) $(PART)" $(FILES)

# All of them: also what takes minutes (mutations, kills and cuts, every format of every sample, wheels).
test-all: check
	$(BIN)/pytest -n auto --dist worksteal

# TensorFlow, JAX, Keras, ONNX Runtime and OpenCV 4 in an environment of their own (3 GB), and the tests of their collectors.
frameworks: $(VENV)/.installed
	$(BIN)/python samples/environments.py $(ENVIRONMENTS) frameworks
	TRACEVIEW_TEST_PYTHON=$(abspath $(ENVIRONMENTS))/.venv-frameworks/bin/python $(BIN)/pytest \
		tests/collectors/test_frameworks.py tests/collectors/test_trainers.py tests/collectors/test_timed_onnxruntime.py tests/collectors/inject/test_options_tensorflow.py tests/experiments/tune/test_option_lines.py \
		tests/samples/test_other_frameworks.py

# Frameworks that need an old Python, each in an environment of its own where that Python is to be had (pyenv or PATH):
# a real training step of each under `traceview collect`, its report, and the tests of their collectors.
legacy: $(VENV)/.installed
	$(BIN)/python samples/legacy/run.py $(ENVIRONMENTS) $(LEGACY)
	TRACEVIEW_LEGACY=$(abspath $(ENVIRONMENTS))/.venv-legacy $(BIN)/pytest -rs tests/collectors/test_legacy*.py tests/experiments/tune/test_option_lines.py tests/samples/test_other_frameworks.py

# What would be uploaded: the same bytes for the same commit.
dist: $(VENV)/.installed
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*

# The wheel of `make dist` in empty environments, by pip and by uv: a report from each.
try-wheel:
	.ci/try_wheel $(PYTHON)

# The pages of docs/ as a site in site/html, in an environment of its own.
site:
	$(PYTHON) -m venv .venv-site
	.venv-site/bin/pip install --quiet ".[docs]"
	.venv-site/bin/python .ci/site.py site

# The README's picture, from the capture of `make demo`.
picture: $(VENV)/.installed
	$(BIN)/python .ci/picture.py $(DEMO)

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/ingest.py

# Damages every trace for a while: make fuzz SECONDS=600.
fuzz: $(VENV)/.installed
	$(BIN)/python benchmarks/fuzz.py $(SECONDS)

clean:
	rm -rf $(VENV) $(ENVIRONMENTS)/.venv-frameworks $(ENVIRONMENTS)/.venv-legacy $(DEMO) build dist .pytest_cache .mypy_cache .ruff_cache
