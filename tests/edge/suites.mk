# The edge worker under workerd: `make edge-test`. Its last part, `make edge-suites`, are the suites that start a gateway, run
# against the worker; `make edge-figures` are no tests.

EDGE_GATEWAY := $(CURDIR)/tests/edge/gateway.mjs

# The pages of the console that are tried against the worker: the key browser and the command line ask nothing that the conformance cases
# do not ask, and take as long as all others together. `make edge-suites EDGE_PAGES=` tries all.
EDGE_PAGES ?= connection functions live search sql users

.PHONY: edge-test edge-suites edge-figures

# wrangler serves the console with the worker, and the transcripts run in Python's wasmtime, too.
edge-test: edge console lua-wasm .build/apt .build/venv/ready
	node --test --test-concurrency 1 tests/edge/*.test.mjs
	cargo test $(ALL_BUT_CORE) --test edge -- --nocapture --test-threads 1

edge-test: edge-suites

edge-suites: export EDGECASK_BIN := $(EDGE_GATEWAY)
edge-suites: edge console .build/apt .build/venv/ready $(CLIENTS)/node
	python3 $(FLOWS)/run.py --only upstash --excused tests/edge/excused-flows.txt
	python3 $(FLOWS)/run.py --only meilisearch --excused tests/edge/excused-flows.txt
	$(PYTHON) tests/conformance/run.py
	node tests/console/run.mjs $(EDGE_PAGES)

edge-figures: edge .build/venv/ready
	node tests/edge/figures.mjs
