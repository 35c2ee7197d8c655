# The page that the gateway serves, built into web-console/dist: `make console`. Each step runs when what it reads
# changed, and not before. `make console-test` needs chromium at /usr/bin/chromium, or CHROMIUM.

CONSOLE := web-console
CARGO_OUT := $(or $(CARGO_TARGET_DIR),target)
CONSOLE_WASM := $(CARGO_OUT)/wasm32-unknown-unknown/console/edgecask_web_console.wasm
CONSOLE_PAGE := $(shell find $(CONSOLE)/page -type f 2> /dev/null) $(addprefix $(CONSOLE)/,index.html vite.config.ts tsconfig.json)

.PHONY: console console-test

console: $(CONSOLE)/dist/index.html

# Cargo knows best what its sources are: it is asked every time, and leaves the file alone if nothing changed.
.PHONY: console-wasm
console-wasm: rust
	cargo build -q -p edgecask-web-console --target wasm32-unknown-unknown --profile console

$(CONSOLE_WASM): console-wasm ;

$(CONSOLE)/pkg/console_bg.wasm: $(CONSOLE_WASM)
	cargo run -q -p edgecask-console-bindgen --profile tool -- $< $(CONSOLE)/pkg console
	touch $@

$(CONSOLE)/dist/index.html: $(CONSOLE)/pkg/console_bg.wasm $(CONSOLE)/node_modules/ready $(CONSOLE_PAGE) $(CONSOLE)/public/.gitignore
	cd $(CONSOLE)
	npx tsc --noEmit
	npx vite build --logLevel warn

# Unit tests of the page, then all of it in a browser against a gateway that has it built in.
console-test: console edgecask .build/apt
	cd $(CONSOLE)
	npx vitest run --reporter dot
	cd ..
	EDGECASK_BIN=$(abspath $(CARGO_OUT))/debug/edgecask node tests/console/run.mjs
