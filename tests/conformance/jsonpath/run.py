#!/usr/bin/env python3
"""The compliance test suite of RFC 9535, each case as JSON.SET and JSON.GET: all must pass.

    run.py                   against the edgecask named by EDGECASK_BIN
    run.py --port PORT       against the server on this port of 127.0.0.1, whose key `cts` it uses

The suite (jsonpath-standard/jsonpath-compliance-test-suite) comes with the package of npm that package.json names. A path without
`$` is one of RedisJSON's older form, which the suite does not know: its few such cases, all of them invalid, are counted and left out.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SUITE = HERE / "node_modules/jsonpath-rfc9535/src/__tests__/jsonpath-compliance-test-suite/cts.json"
sys.path.insert(0, str(HERE.parents[1] / "support"))
from servers import Server

import redis

# Fewer would mean that the suite was not read.
CASES_MIN = 680


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int)
    options = parser.parse_args()
    if options.port:
        sys.exit(judge(options.port))
    with tempfile.TemporaryDirectory(prefix="jsonpath-") as directory, Server(
        [os.environ["EDGECASK_BIN"], "serve", "--dir", os.path.join(directory, "data")], os.path.join(directory, "server.log")
    ) as server:
        sys.exit(judge(server.port))


def judge(port):
    cases = json.loads(SUITE.read_text())["tests"]
    client = redis.Redis(port=port, socket_timeout=10)
    left_out, failures = 0, []
    for case in cases:
        selector = case["selector"]
        if not selector.startswith("$"):
            left_out += 1
            if not case.get("invalid_selector"):
                failures.append(f"{case['name']}: a valid path without $")
            continue
        failure = check(client, case)
        failures += [f"{case['name']}: {selector!r}: {failure}"] if failure else []
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"jsonpath: {len(cases) - left_out - len(failures)} of {len(cases) - left_out} cases pass; {left_out} have no $")
    return 1 if failures or len(cases) < CASES_MIN else 0


def check(client, case):
    """What is wrong, or None."""
    document = case.get("document", {})
    client.execute_command("JSON.SET", "cts", "$", json.dumps(document))
    try:
        found = json.loads(client.execute_command("JSON.GET", "cts", case["selector"]))
    except redis.ResponseError as error:
        return None if case.get("invalid_selector") else str(error)
    if case.get("invalid_selector"):
        return f"it is no path, and found {found}"
    wanted = case["results"] if "results" in case else [case["result"]]
    # Python takes 1 for True.
    return None if typed(found) in map(typed, wanted) else f"found {found}, and not {wanted}"


def typed(value):
    return json.dumps(value, sort_keys=True)


if __name__ == "__main__":
    main()
