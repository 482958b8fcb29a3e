PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# The tests start Python about 300 times. Without compiled modules, each start takes half as long again.
unexport PYTHONDONTWRITEBYTECODE
# Without a cache, mypy takes a minute for pulumi_kubernetes. All clones share one, in the folder of `cache` in tools/pins.py.
export MYPY_CACHE_DIR ?= $(or $(filter /%,$(XDG_CACHE_HOME)),$(HOME)/.cache)/pulumi-volcano-jobs/mypy
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python

.DEFAULT_GOAL := help
.PHONY: help setup lock engine demo cluster docs docs-serve test test-workloads bench messages fuzz package pythons check format schema clean

help: ## show what there is to make
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## install the library and its tools into .venv

$(READY): pyproject.toml requirements-dev.txt
	@echo "setting up .venv (once, less than a minute)"
	@$(PYTHON) -m venv .venv
	@# pip installs uv only, because uv installs the rest in a fifth of the time.
	@awk '/^uv==/ {found = 1} found {print} found && !/\\$$/ {exit}' requirements-dev.txt > .venv/uv.txt
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement .venv/uv.txt
	@$(INSTALL) --compile-bytecode --require-hashes --requirement requirements-dev.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

lock: setup ## pin what `make setup` installs, with hashes (UPGRADE=--upgrade takes the newest versions)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-annotate \
		--custom-compile-command "make lock" $(UPGRADE) --group dev --output-file requirements-dev.txt pyproject.toml

engine: ## build what the tests run: Pulumi, its provider, a Kubernetes control plane (once, 25 to 40 minutes)
	@$(PYTHON) tools/build.py

demo: setup ## the PyTorch job of Volcano's guide: rendered, then brought up by the real engine
	@$(BIN)/python tools/demo.py

cluster: setup ## a Kubernetes control plane on loopback with Volcano's kinds to play with (prints the kubeconfig; Ctrl-C stops it)
	@$(BIN)/python tools/cluster.py

docs: setup ## the documentation as a site, in .site/html
	@$(BIN)/python tools/website.py

docs-serve: setup ## the same, shown on http://localhost:8000 (Ctrl-C stops it)
	@$(BIN)/python tools/website.py --serve

test: setup engine ## all checks and all tests
	@$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=10 --ignore=tests/workloads

PROCESSES ?= 3
WORKLOADS ?= openssh openmpi pytorch network_policy ray tensorflow

test-workloads: setup ## jobs played with the real frameworks (root on Debian; WORKLOADS="openssh openmpi" for some)
	@$(BIN)/python tools/workloads.py $(WORKLOADS)
	CI=1 $(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder --durations=10 tests/workloads -m "player $(patsubst %,or %,$(WORKLOADS))"

bench: setup ## how fast it is: ratios side by side, in one run (a few minutes on a quiet machine)
	@$(BIN)/python -m benchmarks

messages: setup ## write the messages of the package into the snapshots of the tests again, after rewording
	$(BIN)/python -m pytest -q -p no:randomly --snapshot-update tests/cli tests/component tests/convert tests/policy tests/typing tests/unit

fuzz: setup ## bad input of all kinds, and nearly right input for a real API server, 20,000 of each (an hour)
	FUZZ_EXAMPLES=20000 $(BIN)/python -m pytest -n 2 tests/fuzz/test_fuzz.py tests/cluster/test_differential.py

package: setup ## the wheel and the source archive: built, checked, and tested with the oldest allowed versions of everything
	@$(BIN)/python tools/package.py

pythons: setup ## the wheel and the newest versions, with each Python of 3.10 to 3.14 that is installed here
	@$(BIN)/python tools/package.py --pythons

check: setup ## format, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## write the code in its one format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schema: setup ## write the types of the components' arguments, the schema for other languages, and the tables in docs/
	$(BIN)/python tools/argtypes.py
	$(BIN)/python tools/packageschema.py
	$(BIN)/python tools/tables.py

clean: ## remove what was made here (the caches of the engine and of mypy stay)
	rm -rf .venv .demo .site examples/*/rendered .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
