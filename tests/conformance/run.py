#!/usr/bin/env python3
"""Drives the cases of ../shared/conformance/cts.json through redis-py (protocol 2) and counts those that pass.

    run.py --port 6379 [--cases PATH] [--expected FILE] [--since VERSION]

A case is a list of requests on a fresh connection to an empty server, and the replies they must get. Here run the cases
for a standalone server up to Redis 7.2 (or --since) whose commands the server has. The number of passes may only rise:
fewer than FILE says are a failure. Against redis-server 7.0 with --since 7.0 every case passes, which shows that this
runner reads the cases as they were meant.
"""

import argparse
import json
import pathlib
import sys

import redis

CASES = pathlib.Path(__file__).resolve().parents[3] / "shared" / "conformance" / "cts.json"
REPLY_LIMIT_S = 10


def main():
    options = parse_options()
    if not options.cases.is_file():
        sys.exit(f"{options.cases}: the compatibility cases are missing; they stand beside the clone in shared/")
    cases = json.loads(options.cases.read_text())
    known = known_commands(options.port)
    chosen = [case for case in cases if is_for_us(case, options.since)]
    runnable = [case for case in chosen if all(is_known(request, known) for request in requests_of(case))]
    failures = [told for told in (run(options.port, case) for case in runnable) if told]
    passed = len(runnable) - len(failures)
    for failure in failures:
        print(failure)
    print(
        f"conformance: {passed} passed, {len(failures)} failed of {len(runnable)} whose commands are known "
        f"({len(chosen)} standalone cases in all)"
    )
    if options.expected:
        compare_with_expected(passed, options.expected)
    elif failures:
        sys.exit(1)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--cases", type=pathlib.Path, default=CASES)
    parser.add_argument("--expected", type=pathlib.Path)
    parser.add_argument("--since", type=version, default=version("7.2"), help="the newest version of a case")
    return parser.parse_args()


def version(text):
    return tuple(int(part) for part in (text + ".0.0").split(".")[:3])


def compare_with_expected(passed, path):
    expected = int(path.read_text().split()[0])
    if passed < expected:
        sys.exit(f"only {passed} cases passed; {path} says {expected}")
    if passed > expected:
        print(f"{path} can be raised to {passed}")


def is_for_us(case, newest):
    return case.get("tags") != "cluster" and not case.get("skipped") and version(case["since"])[:2] <= newest[:2]


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
