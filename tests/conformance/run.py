#!/usr/bin/env python3
"""Drives redis-py over the compatibility cases of ../shared/conformance/cts.json against one server.

    run.py --port 6379 [--cases PATH] [--expected FILE] [--all]

A case is a run of commands on an empty server and what each must reply. Cases for clusters and for versions after 7.2
are left out, and so are cases with a command that the server does not know (unless --all). The number of passed cases
may only rise: fewer than FILE says is a failure.
"""

import argparse
import json
import os
import sys

import redis

NEWEST = (7, 2)


def version(text):
    return tuple(int(part) for part in text.split("."))


def split(line):
    """The words of a command line, with redis-cli's quotes."""
    words, word, quote, index, begun = [], bytearray(), None, 0, False
    escapes = {"n": 10, "r": 13, "t": 9, "b": 8, "a": 7}
    while index < len(line):
        char = line[index]
        if quote == '"' and char == "\\" and index + 1 < len(line):
            following = line[index + 1]
            if following == "x" and index + 3 < len(line):
                word.append(int(line[index + 2:index + 4], 16))
                index += 4
                continue
            word.extend(bytes([escapes[following]]) if following in escapes else following.encode())
            index += 2
            continue
        if quote:
            if char == quote:
                quote = None
            else:
                word.extend(char.encode())
        elif char in "\"'":
            quote, begun = char, True
        elif char.isspace():
            if word or begun:
                words.append(bytes(word))
            word, begun = bytearray(), False
        else:
            word.extend(char.encode())
        index += 1
    if word or begun:
        words.append(bytes(word))
    return words


def plain(value):
    """A reply as JSON has it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def ordered(value):
    """A reply in an order of its own at every depth: the elements of SCAN's replies stand beside its cursor."""
    return sorted((ordered(item) for item in value), key=repr) if isinstance(value, list) else value


def alike(got, wanted):
    if isinstance(wanted, list) and isinstance(got, list):
        return len(got) == len(wanted) and all(alike(*pair) for pair in zip(got, wanted))
    if isinstance(wanted, float) and isinstance(got, str):
        return abs(float(got) - wanted) < 1e-9
    return got == wanted


def run_case(connection, case):
    """None if the case passes, else what went wrong."""
    connection.send_command("FLUSHALL")
    connection.read_response()
    commands = case["command"]
    for place, (command, wanted) in enumerate(zip(commands, case["result"])):
        words = [word.encode("utf-8", "surrogateescape") if isinstance(word, str) else word
                 for word in command] if isinstance(command, list) else split(command)
        connection.send_command(*words)
        try:
            got = plain(connection.read_response(disable_decoding=True))
        except redis.ResponseError as error:
            got = f"error: {error}"
        if case.get("sort_result"):
            got, wanted = ordered(got), ordered(wanted)
        if not alike(got, wanted):
            return f"{command!r}: got {got!r}, wanted {wanted!r}"
    return None


def names(case):
    for command in case["command"]:
        words = command if isinstance(command, list) else split(command)
        if words:
            word = words[0]
            yield (word.decode() if isinstance(word, bytes) else word).lower()


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--cases", default=os.path.join(root, "..", "shared", "conformance", "cts.json"))
    parser.add_argument("--expected")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if not os.path.exists(options.cases):
        sys.exit(f"{options.cases}: the compatibility cases are missing; they stand beside the clone in shared/")
    cases = json.load(open(options.cases))
    standalone = [case for case in cases
                  if "cluster" not in case.get("tags", []) and version(case["since"])[:2] <= NEWEST
                  and not case.get("skipped")]
    connection = redis.Connection(port=options.port, protocol=2)
    connection.connect()
    connection.send_command("COMMAND", "LIST")
    known = {name.decode() for name in connection.read_response(disable_decoding=True)}
    wanted = [case for case in standalone if options.all or set(names(case)) <= known]
    failures = []
    for case in wanted:
        try:
            trouble = run_case(connection, case)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            trouble = f"connection lost: {error}"
            connection = redis.Connection(port=options.port, protocol=2)
        if trouble:
            failures.append((case["name"], trouble))
    for name, trouble in failures:
        print(f"FAILED {name}: {trouble}")
    passed = len(wanted) - len(failures)
    print(f"conformance: {passed} passed, {len(failures)} failed of {len(wanted)} whose commands are known "
          f"({len(standalone)} standalone cases up to 7.2 in all)")
    if options.expected:
        expected = int(open(options.expected).read().split()[0])
        if passed < expected:
            sys.exit(f"only {passed} cases passed; {options.expected} says {expected}")
        if passed > expected:
            print(f"{options.expected} can be raised to {passed}")
    elif failures:
        sys.exit(1)


if __name__ == "__main__":
    main()
