# The suites that start a gateway, run against the edge worker: `make edge-suites`, a part of `make edge-test`.

EDGE_GATEWAY := $(CURDIR)/tests/edge/gateway.mjs

.PHONY: edge-suites edge-figures

edge-test: edge-suites

edge-suites: export EDGECASK_BIN := $(EDGE_GATEWAY)
edge-suites: edge console .build/venv/ready $(CLIENTS)/node
	python3 $(FLOWS)/run.py --only upstash --excused tests/edge/excused-flows.txt
	$(PYTHON) tests/conformance/run.py
	node --test tests/edge/together.test.mjs
	node --test tests/edge/sleep.test.mjs
	node --test tests/edge/wrangler.test.mjs
	node tests/console/run.mjs

edge-figures: edge
	node tests/edge/figures.mjs
