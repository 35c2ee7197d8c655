"""bench/results.json, the one place that figures come from: what was measured, of which source, under which conditions.

    {"facts": {name: text},                                     the machine, the programs, how it was measured
     "cases": [{"name", "arguments", "remark", "source", "date",
                "medians": {server: {"rps", "cpu_us", "p50_ms", "p99_ms", "p999_ms", "RssAnon", "RssFile"}}}],
     "tables": {name: {"source", "date", "title", "command", "head": [cell], "rows": [[cell]]}}}

A row or a table is *stale* if another source than the present one made it. If the facts differ, everything is.
"""

import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

from peers import REPOSITORY

# What the program is built from.
SOURCES = ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "core/Cargo.toml", "core/src", "core/lua/Cargo.toml", "core/lua/build",
           "core/lua/csrc", "core/lua/patches", "core/lua/src", "core/wasm/Cargo.toml", "core/wasm/src", "core/sql/Cargo.toml", "core/sql/src",
           ".cargo/config.toml", "gateway/Cargo.toml", "gateway/src")
# Characters of the source's name that are shown.
NAME_LENGTH = 12


def source_files():
    for place in map(REPOSITORY.joinpath, SOURCES):
        yield from sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]


def source():
    """The name of the source in the work tree: a digest of the files that the program is built from, whatever commit has
    them."""
    digest = hashlib.sha256()
    for path in source_files():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(REPOSITORY)}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()[:NAME_LENGTH]


def check_build(program):
    """Ends the script if the program is older than the source, so that no row names a source that did not make it."""
    newest = max(source_files(), key=lambda path: path.stat().st_mtime)
    if os.stat(program).st_mtime < newest.stat().st_mtime:
        sys.exit(f"{program} is older than {newest.relative_to(REPOSITORY)}: build it first")


def facts(options):
    """The machine, the programs, and how it is measured: what is alike in all rows of one file."""
    with open("/proc/cpuinfo") as lines:
        models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    with open("/proc/meminfo") as lines:
        memory_kib = int(next(lines).split()[1])
    found = {
        "processors": f"{os.cpu_count()} x {models[0] if models else platform.machine()}",
        "memory": f"{memory_kib / 2**20:.0f} GiB",
        "kernel": platform.release(),
        "file system of the data": output("df", "--output=fstype", tempfile.gettempdir()).split()[-1],
        "EdgeCask": f"{output(options.edgecask, '--version')} {options.edgecask_args}".strip(),
        "Redis": output("redis-server", "--version").split(" sha")[0],
        "Valkey": output(options.valkey, "--version").split(" sha")[0] if options.valkey else "not measured",
        "appendfsync": options.appendfsync,
        "rounds": str(options.rounds),
    }
    return found | ({"scale": str(options.scale)} if options.scale != 1 else {})


def output(*command):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def today():
    return time.strftime("%Y-%m-%d")


def path_in(folder):
    return pathlib.Path(folder) / "results.json"


def load(folder):
    """What was measured so far; nothing if there is no file."""
    path = path_in(folder)
    return json.loads(path.read_text()) if path.exists() else {"facts": {}, "cases": [], "tables": {}}


def save(results, folder):
    """Writes the file, one case and one row of a table a line, so that two of them can be compared."""
    os.makedirs(folder, exist_ok=True)
    cases = ",\n  ".join(json.dumps(case) for case in results["cases"])
    tables = ",\n  ".join(f"{json.dumps(name)}: {table_text(table)}" for name, table in results["tables"].items())
    text = (f'{{"facts": {json.dumps(results["facts"], indent=1)},\n "cases": [\n  {cases}],\n'
            f' "tables": {{\n  {tables}}}}}\n')
    path = path_in(folder)
    # One that is cut short would be taken for lost.
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").rename(path)


def table_text(table):
    rows = ",\n    ".join(json.dumps(row) for row in table["rows"])
    rest = json.dumps({key: value for key, value in table.items() if key != "rows"})
    return f'{rest[:-1]}, "rows": [\n    {rows}]}}'


def case(results, name):
    """A measured case, or None."""
    return next((case for case in results["cases"] if case["name"] == name), None)


def put_case(results, measured, order):
    """Puts a case in its place among those of `order`; one of another name goes."""
    by_name = {case["name"]: case for case in results["cases"]} | {measured["name"]: measured}
    results["cases"] = [by_name[name] for name in order if name in by_name]


def faults(results, case_names, table_names, present):
    """What keeps the file from being whole and of the present source: a text each."""
    for kind, wanted, there in (("case", case_names, {case["name"]: case for case in results["cases"]}),
                                ("table", table_names, results["tables"])):
        yield from (f"{kind} {name}: missing" for name in wanted if name not in there)
        yield from (f"{kind} {name}: made by source {row['source']}, the present one is {present}"
                    for name, row in there.items() if name in wanted and row["source"] != present)
