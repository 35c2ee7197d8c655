#!/usr/bin/env python3
"""Prints what a redis-server says of commands, in the form of core/src/catalog/laws/redis_7_0_15.txt.

    catalog_facts.py PORT [COMMAND...]     all commands without a name; `container|sub` for a subcommand
"""

import sys

import redis


def main():
    port, wanted = int(sys.argv[1]), sys.argv[2:]
    server = redis.Redis(port=port, decode_responses=True)
    for name in wanted or sorted(server.execute_command("COMMAND", "LIST")):
        print(line_of(server, name))


def line_of(server, name):
    # Raw replies: redis-py's own parsing of COMMAND drops what is wanted here.
    server.response_callbacks.clear()
    info = server.execute_command("COMMAND", "INFO", name)[0]
    docs = server.execute_command("COMMAND", "DOCS", name)
    facts = pairs(docs[1])
    if "|" in name:
        facts = pairs(pairs(facts["subcommands"])[name]) if "subcommands" in facts else facts
    arguments = [pairs(argument) for argument in facts.get("arguments", [])]
    fields = [
        name,
        str(info[1]),
        " ".join(info[2]),
        f"{info[3]} {info[4]} {info[5]}",
        " ".join(category.removeprefix("@") for category in info[6]),
        " ".join(info[7]),
        " / ".join(key_spec(pairs(spec)) for spec in info[8]),
        facts["group"],
        facts["since"],
        facts.get("deprecated_since", ""),
        " ".join(syntax(argument) for argument in arguments),
        " ".join(kind for argument in arguments for kind in kinds(argument)),
    ]
    return "; ".join(fields)


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


def key_spec(spec):
    begin, find = pairs(spec["begin_search"]), pairs(spec["find_keys"])
    where, how = pairs(begin["spec"]) if begin["spec"] else {}, pairs(find["spec"]) if find["spec"] else {}
    if begin["type"] == "index":
        begins = f"@{where['index']}"
    elif begin["type"] == "keyword":
        begins = f"@{where['keyword']} {where['startfrom']}"
    else:
        begins = "@unknown"
    if find["type"] == "range":
        finds = f"range {how['lastkey']} {how['keystep']} {how['limit']}"
    elif find["type"] == "keynum":
        finds = f"keynum {how['keynumidx']} {how['firstkey']} {how['keystep']}"
    else:
        finds = "unknown"
    return " ".join([*spec["flags"], begins, finds])


def children(argument):
    return [pairs(child) for child in argument.get("arguments", [])]


def syntax(argument):
    flags = argument.get("flags", [])
    token = argument.get("token")
    if argument["type"] == "pure-token":
        value = token
    elif argument["type"] == "oneof":
        value = " | ".join(syntax(child) for child in children(argument))
        if "optional" not in flags or token or "multiple" in flags:
            value = f"<{value}>"
    elif argument["type"] == "block":
        value = " ".join(syntax(child) for child in children(argument))
    else:
        value = argument["name"]
    if token and argument["type"] != "pure-token":
        text = f"{token} {value}"
    else:
        text = value
    if "multiple" in flags:
        again = text if "multiple_token" in flags else value
        text = f"{text} [{again} ...]"
    return f"[{text}]" if "optional" in flags else text


def kinds(argument):
    if argument["type"] in ("oneof", "block"):
        return [kind for child in children(argument) for kind in kinds(child)]
    return [argument["type"]]


if __name__ == "__main__":
    main()
