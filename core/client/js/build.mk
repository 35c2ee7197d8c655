# The client for JavaScript: `make client-js` builds the package @edgecask/client into core/client/js/dist. `make client-js-test` runs it
# in chromium, in Node and in a Worker under workerd.

CLIENT_JS := core/client/js
CLIENT_JS_WASM := $(CARGO_OUT)/wasm32-unknown-unknown/console/edgecask_client_js.wasm

.PHONY: client-js client-js-wasm client-js-test

client-js: $(CLIENT_JS)/dist/index.d.ts

client-js-wasm: rust
	cargo build -q -p edgecask-client-js --target wasm32-unknown-unknown --profile console

$(CLIENT_JS_WASM): client-js-wasm ;

$(CLIENT_JS)/pkg/client_bg.wasm: $(CLIENT_JS_WASM)
	cargo run -q -p edgecask-console-bindgen --profile tool -- $< $(CLIENT_JS)/pkg client
	touch $@

$(CLIENT_JS)/dist/index.d.ts: $(CLIENT_JS)/pkg/client_bg.wasm $(CLIENT_JS)/node_modules/ready $(wildcard $(CLIENT_JS)/ts/*) $(CLIENT_JS)/build.mjs
	cd $(CLIENT_JS)
	node build.mjs
	npx tsc
	touch dist/index.d.ts

# With the console's chromium driver, and the sockets and workerd of the edge worker.
client-js-test: client-js edgecask edge $(CONSOLE)/node_modules/ready .build/apt
	EDGECASK_BIN=$(CURDIR)/$(BIN) node --test --test-concurrency 1 tests/client-js/*.test.mjs

.PHONY: bench-client-js
bench-client-js: client-js $(CONSOLE)/node_modules/ready $(EDGE)/node_modules/ready .build/apt
	$(RELEASE_BUILD)
	EDGECASK_BIN=$(CURDIR)/$(RELEASE) node tests/bench/client_js.mjs
