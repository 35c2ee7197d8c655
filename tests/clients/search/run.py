#!/usr/bin/env python3
"""Other people's suites and our flows of their clients, for search and JSON: how many passed of each, and which did not.

    run.py PORT             against the server on this port of 127.0.0.1, which it empties before each suite
    run.py                  against the edgecask named by EDGECASK_BIN
    run.py --suite redis-py only the suites with this in their name (may be given more than once)
    run.py -k TEXT          only the tests that pytest's -k chooses
    run.py --excluded       only the tests that expected.txt excludes: those that pass need no line there any more
    run.py --list           the suites

./setup comes first. The suites are those of their packages, unmodified; expected.txt says which of their tests
do not count, and why.
"""

import argparse
import collections
import contextlib
import dataclasses
import fnmatch
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from servers import Server

EXCLUSIONS = HERE / "expected.txt"
BUILD = ROOT / ".build" / "clients" / "search"
PYTHON = str(BUILD / "venv" / "bin" / "python")
# The longest takes some minutes on a healthy machine; these only bound how long a broken server hangs.
SUITE_LIMIT_S = 1800
TEST_LIMIT_S = 60
# BM25STD is the scorer by default from this version on, and COLLECT, SVS-VAMANA and FT.HYBRID come later.
REDIS_PY_VERSION = "8.0.0"


@dataclasses.dataclass
class Suite:
    """Tests that pytest runs in the folder of their source package; {port} stands for the server's."""
    name: str
    source: str
    arguments: list
    environment: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Flows:
    """A program of ours that prints a line a flow as ../run.py wants it."""
    name: str
    command: list


def redis_py(name, file, *arguments):
    url = "redis://127.0.0.1:{port}/0"
    return Suite(name, "redis-8.1.0", [f"tests/{file}", "--redis-url", url, "--redis-mod-url", url, *arguments],
                 {"SUITE_SERVER_VERSION": REDIS_PY_VERSION})


def redisvl(name, *files):
    return Suite(name, "redisvl-0.28.0", [f"tests/integration/{file}" for file in files])


def redis_om(name, *files):
    return Suite(name, "redis_om-1.2.0", [f"tests_sync/{file}" for file in files],
                 {"REDIS_OM_URL": "redis://127.0.0.1:{port}?decode_responses=True"})


SUITES = [
    # By default the client speaks RESP3 and shows RESP2's shapes.
    redis_py("redis-py", "test_search.py"),
    redis_py("redis-py-resp2", "test_search.py", "--protocol", "2"),
    redis_py("redis-py-resp3", "test_search.py", "--protocol", "3"),
    redis_py("redis-py-resp2-unified", "test_search.py", "--protocol", "2", "--legacy-responses", "false"),
    redis_py("redis-py-resp3-unified", "test_search.py", "--protocol", "3", "--legacy-responses", "false"),
    redis_py("redis-py-async", "test_asyncio/test_search.py"),
    redis_py("redis-py-json", "test_json.py"),
    redis_py("redis-py-json-resp2", "test_json.py", "--protocol", "2"),
    redis_py("redis-py-json-resp3", "test_json.py", "--protocol", "3"),
    redis_py("redis-py-json-resp3-unified", "test_json.py", "--protocol", "3", "--legacy-responses", "false"),
    redis_py("redis-py-json-async", "test_asyncio/test_json.py"),
    redisvl("redisvl", "test_search_index.py", "test_async_search_index.py", "test_query.py", "test_aggregation.py",
            "test_bulk_operations.py", "test_connection.py", "test_field_modifier_ordering_integration.py",
            "test_flow.py", "test_flow_async.py", "test_index_gc_finalizer_integration.py",
            "test_key_separator_handling.py", "test_multi_field_sorting_integration.py", "test_multi_prefix.py",
            "test_no_proactive_module_checks.py", "test_search_results.py", "test_skip_decode_fields_integration.py",
            "test_stopwords_integration.py", "test_text_query_weights_integration.py",
            "test_unf_noindex_integration.py", "test_withsuffixtrie_integration.py"),
    redisvl("redisvl-extensions", "test_llmcache.py", "test_message_history.py", "test_semantic_router.py",
            "test_role_filter_get_recent.py", "test_embedcache.py", "test_embedcache_warnings.py"),
    redisvl("redisvl-migration", "test_migration_v1.py", "test_async_migration_v1.py",
            "test_migration_comprehensive.py", "test_batch_migration_integration.py",
            "test_index_migrator_e2e_recovery.py"),
    redisvl("redisvl-sql", "test_sql_redis_hash.py", "test_sql_redis_json.py"),
    redisvl("redisvl-hybrid", "test_hybrid.py", "test_sql_redis_hybrid.py", "test_svs_integration.py"),
    redis_om("redis-om", ""),
    Flows("langchain (RESP3)", [PYTHON, HERE / "langchain_flows.py", "3"]),
    Flows("langchain (RESP2)", [PYTHON, HERE / "langchain_flows.py", "2"]),
    Flows("node-redis (RESP2)", ["node", HERE / "node_redis_flows.mjs", "2"]),
    Flows("node-redis (RESP3)", ["node", HERE / "node_redis_flows.mjs", "3"]),
    Flows("redis-om-node", ["node", HERE / "redis-om" / "flows.mjs", "2"]),
]


def main():
    options = parse_options()
    suites = [suite for suite in SUITES if not options.suite or any(each in suite.name for each in options.suite)]
    if options.list:
        print(*(suite.name for suite in suites), sep="\n")
        return
    totals = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="search-clients-") as directory, server(options.port, directory) as port:
        for suite in suites:
            ask(port, "FLUSHALL")
            run = run_flows if isinstance(suite, Flows) else run_suite
            totals += report(suite.name, run(suite, port, options, directory))
    print(f"search clients: {totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped")
    sys.exit(1 if totals["failed"] or not totals["passed"] else 0)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int, nargs="?")
    parser.add_argument("--suite", action="append", metavar="TEXT")
    parser.add_argument("-k", metavar="TEXT")
    parser.add_argument("--excluded", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--redis-version", default=None, help="the version redis-py's tests take the server for")
    return parser.parse_args()


@contextlib.contextmanager
def server(port, directory):
    """The port of the server to ask: the given one, or of an EdgeCask started for the occasion."""
    if port:
        yield port
        return
    program = os.environ.get("EDGECASK_BIN")
    if not program or not os.path.isfile(program):
        sys.exit(f"search clients: no port is given, and EDGECASK_BIN is {program!r}, which is no program")
    command = [program, "serve", "--dir", os.path.join(directory, "data")]
    with Server(command, os.path.join(directory, "server.log")) as started:
        yield started.port


def ask(port, line):
    with socket.create_connection(("127.0.0.1", port), timeout=SUITE_LIMIT_S) as client:
        client.sendall(line.encode() + b"\r\n")
        return client.recv(1024)


def run_suite(suite, port, options, directory):
    """Outcomes with details by test."""
    outcomes = pathlib.Path(directory) / "outcomes"
    outcomes.write_text("")
    environment = {**os.environ, **suite.environment, "PYTHONPATH": str(HERE), "SUITE_NAME": suite.name,
                   "SUITE_EXCLUSIONS": str(EXCLUSIONS), "SUITE_OUTCOMES": str(outcomes),
                   "SUITE_PORT": str(port)}
    if options.excluded:
        environment["SUITE_ONLY_EXCLUDED"] = "1"
    if options.redis_version and "SUITE_SERVER_VERSION" in environment:
        environment["SUITE_SERVER_VERSION"] = options.redis_version
    environment = {name: value.format(port=port) if name == "REDIS_OM_URL" else value
                   for name, value in environment.items()}
    # The options of the folder's own configuration come first; its log of every call would be long.
    command = [PYTHON, "-m", "pytest", "-p", "plugin", "-p", "no:cacheprovider", "-q", "--no-header", "--tb=no",
               "-o", "log_cli=false", "-o", "addopts=", "-o", "asyncio_mode=auto", "--timeout", str(TEST_LIMIT_S),
               *(["-k", options.k] if options.k else []), *(each.format(port=port) for each in suite.arguments)]
    done = subprocess.run(["timeout", "--kill-after=5", str(SUITE_LIMIT_S), *command], env=environment,
                          cwd=BUILD / "sources" / suite.source, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = {}
    for line in outcomes.read_text().splitlines():
        name, outcome, detail = line.split("\t")
        if name == "":
            found[""] = ("excluded", detail)
        elif found.get(name, ("",))[0] != "failed":
            found[name] = (outcome, detail)
    # 1 is that tests failed, 5 that none was chosen.
    if done.returncode not in (0, 1, 5):
        found["to the end"] = ("failed", f"pytest's exit code is {done.returncode}: {done.stdout[-600:]}")
    return found


def run_flows(suite, port, options, _directory):
    """Outcomes with details by flow. An excluded flow runs with the others but does not count."""
    program, script, protocol = suite.command
    done = subprocess.run(["timeout", "--kill-after=5", str(SUITE_LIMIT_S), program, script, str(port), protocol],
                          text=True, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    lines = done.stdout.splitlines()
    rows = [line.split("\t") for line in lines if line.count("\t") == 3]
    found = {flow: ("passed" if outcome == "ok" else outcome, detail) for flow, outcome, _took_ms, detail in rows
             if not options.k or options.k in flow}
    excluded = [flow for flow in found if is_excluded(suite.name, flow)]
    found = {flow: found[flow] for flow in found if (flow in excluded) == options.excluded}
    found[""] = ("excluded", str(len(excluded)))
    if "end" not in lines:
        found["to the end"] = ("failed", f"exit code {done.returncode}: {done.stderr[-600:]}")
    return found


def is_excluded(name, flow):
    rows = [line.split("\t") for line in EXCLUSIONS.read_text().splitlines() if line and not line.startswith("#")]
    return any(fnmatch.fnmatchcase(name, suite) and fnmatch.fnmatchcase(flow, pattern) for suite, pattern, _ in rows)


def report(name, found):
    excluded = found.pop("", (None, "0"))[1]
    counts = collections.Counter("passed" if outcome == "expected to fail" else outcome for outcome, _ in found.values())
    print(f"{name}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped, "
          f"{excluded} excluded", flush=True)
    for test, (outcome, detail) in found.items():
        if outcome == "failed":
            print(f"    {test}: {detail}", flush=True)
    return counts


if __name__ == "__main__":
    main()
