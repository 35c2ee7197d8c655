#!/usr/bin/env python3
"""Drives the cases of cts.json through redis-py (protocol 2) and counts those that pass.

A case is a list of requests on one fresh connection to an empty server, and the replies they must get. Here run the
cases for a standalone server up to Redis 7.2 (or `--since`) whose commands the server has. The number of passes is
compared with `expected.txt` beside this file, or with `--expected`; it may only rise.

    run.py                         against the edgecask named by EDGECASK_BIN
    run.py --redis --since 7.0     against redis-server: shows that this runner reads the cases as they were meant
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

import redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "cases" / "cts.json"  # MIT, its licence beside it
REPLY_LIMIT_S = 10


def main():
    options = parse_options()
    if not options.cases.is_file():
        sys.exit(f"conformance: there is no {options.cases}; CONFORMANCE_CASES or --cases says where the cases are")
    cases = json.loads(options.cases.read_text())
    with tempfile.TemporaryDirectory(prefix="conformance-") as directory, \
            Server(server_command(options.redis, directory), os.path.join(directory, "server.log")) as server:
        port = server.port
        known = known_commands(port)
        chosen = [case for case in cases if is_for_us(case, options.since)]
        runnable = [case for case in chosen if all(is_known(request, known) for request in requests_of(case))]
        failures = [told for told in (run(port, case) for case in runnable) if told]
    passed = len(runnable) - len(failures)
    for failure in failures:
        print(failure)
    name = "redis-server" if options.redis else "edgecask"
    print(
        f"conformance: {name} passed {passed} / {len(runnable)}; "
        f"{len(chosen) - len(runnable)} of {len(chosen)} cases need commands it does not have"
    )
    if not options.redis:
        compare_with_expected(passed, options.expected)


def parse_options():
    parser = argparse.ArgumentParser()
    given = os.environ.get("CONFORMANCE_CASES")
    parser.add_argument("--cases", type=pathlib.Path, default=pathlib.Path(given) if given else CASES)
    parser.add_argument("--redis", action="store_true", help="run against redis-server instead")
    parser.add_argument("--since", type=version, default=version("7.2.99"), help="the newest version of a case")
    parser.add_argument("--expected", type=int, default=int((HERE / "expected.txt").read_text().split()[0]))
    return parser.parse_args()


def server_command(is_redis, directory):
    """The server's command line but for the port."""
    if is_redis:
        return ["redis-server", "--bind", "127.0.0.1", "--save", "", "--dir", directory]
    program = os.environ.get("EDGECASK_BIN")
    if not program or not os.path.isfile(program):
        sys.exit(f"conformance: EDGECASK_BIN is {program!r}, which is no program")
    return [program, "serve", "--dir", os.path.join(directory, "data"), "--proto-max-bulk-len", "512mb"]


def version(text):
    return tuple(int(part) for part in (text + ".0.0").split(".")[:3])


def compare_with_expected(passed, expected):
    if passed < expected:
        sys.exit(f"conformance: {passed} passes are fewer than the {expected} that are expected")
    if passed > expected:
        sys.exit(f"conformance: {passed} passes are more than the {expected} that are expected: raise it")


def is_for_us(case, newest):
    return case.get("tags") != "cluster" and not case.get("skipped") and version(case["since"]) <= newest


def requests_of(case):
    return [split(command, case.get("command_binary", False)) for command in case["command"]]


ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}


def split(command, is_binary):
    """Words between spaces; double quotes keep spaces together; in binary cases \\x41 and \\n mean a byte."""
    words, word, is_quoted, at = [], None, False, 0
    while at < len(command):
        sign = command[at]
        at += 1
        if sign == '"':
            is_quoted, word = not is_quoted, word or ""
        elif sign == " " and not is_quoted:
            words, word = (words if word is None else words + [word]), None
        elif sign == "\\" and is_binary:
            kind = command[at]
            is_hex = kind == "x"
            word = (word or "") + (chr(int(command[at + 1 : at + 3], 16)) if is_hex else ESCAPES.get(kind, kind))
            at += 3 if is_hex else 1
        else:
            word = (word or "") + sign
    words = words if word is None else words + [word]
    return [text.encode("latin-1") if is_binary else text.encode() for text in words]


def known_commands(port):
    """Names of commands, and `container|word` for subcommands."""
    with connect(port) as client:
        known = set()
        for row in client.execute_command("COMMAND"):
            known.add(row[0].lower())
            subcommands = row[9] if len(row) > 9 else []
            known.update(sub[0].lower() for sub in subcommands)
            if subcommands:
                known.add(row[0].lower() + "|")
        return known


def is_known(request, known):
    name = request[0].decode().lower()
    if name + "|" in known and len(request) > 1:
        return f"{name}|{request[1].decode().lower()}" in known
    return name in known


def connect(port):
    client = redis.Redis(
        port=port, protocol=2, decode_responses=True, single_connection_client=True, socket_timeout=REPLY_LIMIT_S
    )
    # Replies as they come, not as redis-py likes to show them.
    client.response_callbacks.clear()
    return client


def run(port, case):
    """None, or what went wrong."""
    with connect(port) as client:
        client.execute_command("FLUSHALL")
        # One case has a result more than requests.
        for request, expected in zip(requests_of(case), case["result"], strict=False):
            try:
                reply = client.execute_command(*request)
            except redis.RedisError as error:
                reply = f"{type(error).__name__}: {error}"
            if case.get("sort_result"):
                reply, expected = in_order(reply), in_order(expected)
            if reply != expected:
                shown = b" ".join(request).decode(errors="replace")
                return f"FAILED {case['name']} ({case['since']}): {shown}\n  reply:    {reply!r}\n  expected: {expected!r}"
    return None


def in_order(reply):
    return sorted((in_order(item) for item in reply), key=repr) if isinstance(reply, list) else reply


main()
