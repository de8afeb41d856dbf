# Every target sets up what it needs: a virtual environment in .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: sanitize demo test check golden conformance soak fuzz batches kills readers asan benchmark continuous counting bench-gpu clean

demo: .venv/installed
	$(BIN)/python examples/demo.py

# WORKERS: processes that take the test files in turns. Kernels are compiled first, so that no two compile the same.
WORKERS ?= 2
PYTEST = $(BIN)/python -m pytest -q
test: .venv/developing check
	$(BIN)/gquery warm
	$(PYTEST) -n $(WORKERS) --dist loadfile -m "not alone"
	$(PYTEST) -m alone $$(grep -rl --include='test_*.py' mark.alone tests)

check: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/mypy

golden: .venv/developing
	GQUERY_GOLDEN=write $(BIN)/python -m pytest -q tests/planner tests/docs

# The table of docs/conformance.md; reads ../shared/tck.
conformance: .venv/developing
	$(BIN)/python -m tests.conformance.table

# SECONDS: how long. SEED: of the random graphs and queries, printed; the same one gives the same cases.
SECONDS ?= 3600
soak: .venv/developing
	$(BIN)/python -m tests.soak --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# What is broken on purpose: a graph, an answer or an error of gquery's comes back, and nothing else.
fuzz: .venv/developing
	$(BIN)/python -m tests.fuzz.queries --count 200000 $(if $(SEED),--seed $(SEED))
	$(BIN)/python -m tests.fuzz.files --count 20000

# What stands on random graphs that change, against reruns. BATCHES, PROCESSES, DEVICE (cpu, gpu, reference, emulated).
batches: .venv/developing
	$(BIN)/python -m tests.continuous --batches $(or $(BATCHES),10000) --processes $(or $(PROCESSES),1) --device $(or $(DEVICE),cpu)

# Writers of a store that are killed, and what they have told of.
KILLS ?= 1000
kills: .venv/developing
	folder=$$(mktemp -d) && $(BIN)/python -m tests.faults.kill_store $$folder/graph.gq $(KILLS); rm -r $$folder

# Readers of a store beside its writer, each of whose answers has to be that of one version. SECONDS, READERS, SEED.
readers: SECONDS = 300
readers: .venv/developing
	$(BIN)/python -m tests.faults.one_version --seconds $(SECONDS) --readers $(or $(READERS),16) $(if $(SEED),--seed $(SEED))

benchmark: .venv/developing
	$(BIN)/pip install -q -e '.[benchmark]'
	$(BIN)/python -m benchmarks.small_graph
	$(BIN)/python -m benchmarks.lsqb
	$(BIN)/python -m benchmarks.ldbc

# DATA: the folder with the published graphs, streams and queries.
continuous: .venv/developing
	$(BIN)/python -m benchmarks.continuous --data $(DATA)

counting: .venv/developing
	$(BIN)/python -m benchmarks.counting --data $(DATA)
	$(BIN)/python -m benchmarks.ablation --data $(DATA)

# Needs a card that CuPy finds, and DATA.
bench-gpu: .venv/developing
	$(BIN)/python -m benchmarks.gpu --data $(DATA)

# Needs a card that CuPy finds.
TOOL ?= memcheck
sanitize: .venv/developing
	compute-sanitizer --tool $(TOOL) --error-exitcode 1 $(BIN)/python -m tests.sanitized $(if $(filter racecheck,$(TOOL)),8)

# The DuckDB extension under AddressSanitizer and UndefinedBehaviorSanitizer, with a fuzz of values and types.
asan: .venv/developing
	$(BIN)/python -m tests.integrations.asan

.venv/installed: pyproject.toml setup.py
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q -e .
	touch $@

.venv/developing: .venv/installed
	$(BIN)/pip install -q -e '.[dev]'
	touch $@

clean:
	rm -rf .venv build demo_data .mypy_cache .ruff_cache .pytest_cache
