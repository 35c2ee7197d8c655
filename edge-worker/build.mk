# The edge worker: `make edge` builds edge-worker/dist, which wrangler deploys.

EDGE := edge-worker
# How the module is compiled, a profile of Cargo.toml: `edge` for speed, `edge-small` for few bytes.
EDGE_PROFILE ?= edge
EDGE_WASM := $(or $(CARGO_TARGET_DIR),target)/wasm32-unknown-unknown/$(EDGE_PROFILE)/edgecask_edge_worker.wasm

# What a worker may have besides: functions as WebAssembly, SQL. `make edge EDGE_FEATURES=` leaves both out, EDGE_FEATURES=sql one.
EDGE_FEATURES ?= wasm-functions sql

.PHONY: edge edge-wasm

edge-wasm: rust wasm-tools
	$(FOR_WORKERD) cargo build -q -p edgecask-edge-worker --target wasm32-unknown-unknown --profile $(EDGE_PROFILE) --features "$(EDGE_FEATURES)"

edge: edge-wasm $(EDGE)/node_modules/ready
	cd $(EDGE)
	npx tsc
	node build.mjs $(abspath $(EDGE_WASM))
