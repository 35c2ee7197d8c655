#!/usr/bin/env python3
"""Recorded answers of RediSearch to searches over hashes and JSON documents: asks them again and compares.

    run.py                   against the edgecask named by EDGECASK_BIN
    run.py --port PORT       against the server on this port of 127.0.0.1, which it empties
    run.py --show 5          prints so many differences in full

data.json has the data sets (`{"bytes": hex}` stands for bytes that are no text), answers.jsonl.gz a request and its answer a line. Both
were made from the compatibility cases of valkey-search, whose licence stands beside them. Rows count without their order,
numbers to two places, and of an error only that it is one. expected.txt names the differences there may be, and the data sets that are left out.
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import shlex
import sys
import tempfile

import redis

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))
from servers import Server

REPLY_LIMIT_S = 10


def main():
    options = parse_options()
    if options.port:
        sys.exit(judge(options.port, options.show))
    with tempfile.TemporaryDirectory(prefix="search-conformance-") as directory, Server(
        [os.environ["EDGECASK_BIN"], "serve", "--dir", os.path.join(directory, "data")], os.path.join(directory, "server.log")
    ) as server:
        sys.exit(judge(server.port, options.show))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int)
    parser.add_argument("--show", type=int, default=0)
    return parser.parse_args()


def judge(port, show):
    connection = redis.Connection(port=port, protocol=2, socket_timeout=REPLY_LIMIT_S)
    data = {(one["name"], one["key_type"], one["schema"]): one for one in json.loads((HERE / "data.json").read_text())}
    with gzip.open(HERE / "answers.jsonl.gz", "rt") as lines:
        cases = [json.loads(line) for line in lines]
    skipped, allowed = expected()
    left_out = sum(case["key_type"] in skipped for case in cases)
    cases = [case for case in cases if case["key_type"] not in skipped]
    cases.sort(key=lambda case: (case["set"], case["key_type"], case["schema"]))
    loaded, differences = None, collections.Counter()
    for case in cases:
        wanted = (case["set"], case["key_type"], case["schema"])
        if wanted != loaded:
            load(connection, data[wanted])
            loaded = wanted
        answer = ask(connection, *map(unwrapped, case["cmd"]))
        if agrees(case, answer):
            continue
        differences[case["test"]] += 1
        if show:
            show -= 1
            print(f"{case['test']}, data {wanted}: {case['cmd']}\n  recorded: {case['result']}\n  here:     {plain(answer)}")
    agreed = len(cases) - differences.total()
    print(f"search conformance: {agreed} of {len(cases)} answers as recorded; {left_out} are left out")
    unexplained = {test: count for test, count in differences.items() if count > allowed.get(test, 0)}
    for test, count in unexplained.items():
        print(f"{test}: {count} answers differ, of which expected.txt allows {allowed.get(test, 0)}")
    for test in allowed.keys() - differences.keys():
        print(f"{test}: nothing differs any more; expected.txt still allows it")
    return 1 if unexplained or allowed.keys() - differences.keys() else 0


def expected():
    """The kinds of documents that are left out, and how many answers of a test may differ."""
    skipped, allowed = set(), {}
    for line in (HERE / "expected.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            what, count, _reason = line.split("\t")
            if count == "all":
                skipped.add(what)
            else:
                allowed[what] = int(count)
    return skipped, allowed


def load(connection, data):
    ask(connection, "FLUSHALL")
    for create in data["create"]:
        ask(connection, *shlex.split(create))
    for key, document in data["documents"]:
        if data["key_type"] == "json":
            ask(connection, "JSON.SET", key, "$", json.dumps(document, ensure_ascii=False))
            continue
        fields = [word for name, value in document.items() for word in (name, unwrapped(value))]
        ask(connection, "HSET", key, *fields)


def ask(connection, *words):
    """The reply, or the error that it is."""
    connection.send_command(*words)
    try:
        return connection.read_response(disable_decoding=True)
    except redis.ResponseError as error:
        return error


def unwrapped(value):
    return bytes.fromhex(value["bytes"]) if isinstance(value, dict) else str(value)


def agrees(case, answer):
    is_error = isinstance(answer, Exception)
    if is_error or case["error"]:
        return is_error == case["error"]
    return rows(case["cmd"], plain(answer)) == rows(case["cmd"], case["result"])


def rows(command, answer):
    """What two answers are compared by."""
    if not isinstance(answer, list) or not answer:
        return canonical(answer)
    if command[0].lower() == "ft.aggregate":
        return sorted(canonical(fields(row)) for row in answer[1:])
    # A key, perhaps a key to sort by, perhaps fields.
    hits, hit = [], []
    for item in answer[1:]:
        begins = not isinstance(item, list) and not (isinstance(item, str) and item[:1] in ("#", "$"))
        if begins and hit:
            hits.append(hit)
            hit = []
        hit.append(fields(item) if isinstance(item, list) else item)
    return [str(answer[0]), *sorted(map(canonical, [*hits, hit]))]


def fields(row):
    """Names and values in turn, as a map."""
    return dict(zip(map(str, row[::2]), row[1::2])) if isinstance(row, list) else row


def canonical(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}:{canonical(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted(map(canonical, value))) + "]"
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return canonical(json.loads(value))
        except ValueError:
            return value
    try:
        number = round(float(value), 2)
        # Minus zero is zero.
        return f"{number + 0.0:.2f}"
    except (TypeError, ValueError, OverflowError):
        return str(value)


def plain(reply):
    """A reply with texts for bytes, as JSON has it."""
    if isinstance(reply, list):
        return [plain(item) for item in reply]
    if isinstance(reply, bytes):
        return reply.decode() if all(32 <= byte < 127 for byte in reply) else {"bytes": reply.hex()}
    return reply


if __name__ == "__main__":
    main()
