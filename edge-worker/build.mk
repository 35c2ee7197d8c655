# The edge worker: `make edge` builds edge-worker/dist, which wrangler deploys; `make edge-test` runs it under workerd.

EDGE := edge-worker
EDGE_WASM := $(or $(CARGO_TARGET_DIR),target)/wasm32-unknown-unknown/edge/edgecask_edge_worker.wasm

.PHONY: edge edge-test edge-wasm

edge-wasm:
	cargo build -q -p edgecask-edge-worker --target wasm32-unknown-unknown --profile edge

$(EDGE)/node_modules/ready: $(EDGE)/package-lock.json
	npm ci --prefix $(EDGE) --silent --no-audit --no-fund --ignore-scripts
	touch $@

edge: edge-wasm $(EDGE)/node_modules/ready
	cd $(EDGE)
	npx tsc
	node build.mjs $(abspath $(EDGE_WASM))

edge-test: edge
	cargo clippy -q -p edgecask-edge-worker --target wasm32-unknown-unknown -- -D warnings
	cargo test -q -p edgecask-edge-worker
	node --test --test-concurrency 1 tests/edge/traps.test.mjs tests/edge/abort.test.mjs tests/edge/limits.test.mjs
	cargo test -p edgecask-tests --test edge -- --nocapture --test-threads 1
