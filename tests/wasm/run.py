#!/usr/bin/env python3
"""Runs a wasm32-wasip1 test binary under wasmtime: the runner that cargo calls with the binary and its arguments.

WASI has no threads, so the tests of one process run one after the other. Where all of them are asked for, each processor runs a share
at a time.
"""

import concurrent.futures
import os
import subprocess
import sys

from wasmtime import Config, Engine, ExitTrap, Linker, Module, Store, WasiConfig

# So many shares for each processor: some tests take long, and a process takes a moment to start.
SHARES_PER_PROCESSOR = 6


def run(binary, arguments):
    config = Config()
    config.cache = True
    engine = Engine(config)
    linker = Linker(engine)
    linker.define_wasi()
    store = Store(engine)
    wasi = WasiConfig()
    wasi.argv = [binary, *arguments]
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    store.set_wasi(wasi)
    instance = linker.instantiate(store, Module.from_file(engine, binary))
    try:
        instance.exports(store)["_start"](store)
    except ExitTrap as ended:
        return ended.code
    return 0


def run_apart(binary, arguments):
    """One process of its own: its exit code and what it says."""
    ended = subprocess.run([sys.executable, __file__, binary, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return ended.returncode, ended.stdout


def main(binary, *arguments):
    is_everything = all(argument in ("-q", "--quiet") for argument in arguments)
    processors = len(os.sched_getaffinity(0))
    if not is_everything or processors == 1:
        return run(binary, arguments)
    code, listed = run_apart(binary, ["--list", "--format", "terse"])
    names = [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]
    if code != 0 or not names:
        print(listed)
        return code or 1
    shares = [names[first::processors * SHARES_PER_PROCESSOR] for first in range(processors * SHARES_PER_PROCESSOR)]
    with concurrent.futures.ThreadPoolExecutor(processors) as pool:
        outcomes = list(pool.map(lambda share: run_apart(binary, [*arguments, "--exact", *share]), filter(None, shares)))
    passed = 0
    for code, said in outcomes:
        if code != 0:
            print(said)
        passed += sum(int(line.split(" passed")[0].split()[-1]) for line in said.splitlines() if " passed; " in line)
    print(f"{passed} of {len(names)} passed in shares under wasmtime")
    return 0 if passed == len(names) and all(code == 0 for code, _ in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
