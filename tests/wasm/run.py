#!/usr/bin/env python3
"""Runs a wasm32-wasip1 test binary under wasmtime: the runner that cargo calls with the binary and its arguments."""

import sys

from wasmtime import Config, Engine, ExitTrap, Linker, Module, Store, WasiConfig

config = Config()
config.cache = True
engine = Engine(config)
linker = Linker(engine)
linker.define_wasi()
store = Store(engine)
wasi = WasiConfig()
wasi.argv = sys.argv[1:]
wasi.inherit_stdout()
wasi.inherit_stderr()
store.set_wasi(wasi)
instance = linker.instantiate(store, Module.from_file(engine, sys.argv[1]))
try:
    instance.exports(store)["_start"](store)
except ExitTrap as ended:
    sys.exit(ended.code)
