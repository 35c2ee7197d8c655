#!/usr/bin/env python3
"""EdgeCask beside redis-server with and without its log, and valkey-server, in one run, on this machine.

All servers of a case run at the same time on empty folders; each is measured in turn, round by round, so that a machine
that drifts drifts for all. Throughput and latency are redis-benchmark's, CPU is the server's own accounting
(/proc/PID/stat, user and system, all threads and ended children), memory is RssAnon and RssFile after the last round. What is
shown are medians over the rounds, and ratios of the medians.

    bench.py --edgecask target/release/edgecask [--rounds 5] [--only "SET 3 B,GET * -P 16"] [--out bench]

It makes the rows of results.json that are missing or were made by another source, then results.md and results.svg and the
figures in README.md and docs/ from it, and fails if any row is not of the present source. A run that was interrupted goes on
where it was. --only takes names and patterns as `--list` shows them, from the default cases first, then from all; a name
without its size means 3 B; these are measured in any case, and the rest stays as it is.
"""

import argparse
import contextlib
import fnmatch
import os
import pathlib
import resource
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Failed, Server

import cases
import figures
import many_keys
import memory
import peers
import reopen
import report
import results
from memory_limit import limited_memory

# What a measurement takes on average over the servers of a case.
MEASUREMENT_S = 0.9
# A calibrating run shorter than this says little.
CALIBRATION_S = 0.15

# Tables beside the cases: what makes each from the options.
TABLES = {"reopen": reopen.table, "memory": memory.table, "many_keys": many_keys.table}


@contextlib.contextmanager
def started(case, options):
    """The servers of a case by name, on empty folders that are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="edgecask-bench-") as folder, contextlib.ExitStack() as stack:
        prefix = stack.enter_context(limited_memory(case.memory_limit_bytes)) if case.memory_limit_bytes else []
        servers = {}
        for name in peers.there_are(options, case.servers):
            data = os.path.join(folder, name)
            os.mkdir(data)
            command = peers.command(name, data, options, case.policy or options.appendfsync)
            servers[name] = stack.enter_context(Server([*prefix, *command], data + ".log"))
        yield servers


def requests_for(case, servers, options):
    """As many requests as take the time wanted on average over the servers, to two digits."""
    if case.requests:
        return max(case.connections, int(case.requests * min(1, options.scale)))
    seconds = MEASUREMENT_S * options.scale
    fewest = 2 * case.connections * case.pipeline
    seconds_a_request = [calibrate(case, server, fewest, min(CALIBRATION_S, seconds)) for server in servers.values()]
    wanted = int(max(fewest, seconds / statistics.mean(seconds_a_request)))
    return round(wanted, 2 - len(str(wanted)))


def calibrate(case, server, requests, seconds):
    """Seconds that a request takes, from the first run that lasts at least `seconds`; it also warms the server."""
    while True:
        elapsed = max(0.001, requests / round_on(server, case, requests)["rps"])
        if elapsed >= seconds:
            return elapsed / requests
        requests = int(requests * min(20, 1.5 * seconds / elapsed)) + 1


def measure(case, options):
    """The row of a case: its medians, or why there are none."""
    result = {"name": case.name, "arguments": "", "remark": case.remark, "source": options.source, "date": results.today(),
              "medians": {}}
    try:
        with started(case, options) as servers:
            for server in servers.values():
                case.fill(server)
            requests = requests_for(case, servers, options)
            if case.arguments:
                result["arguments"] = " ".join(case.benchmark_arguments(requests))
            samples = {name: [] for name in servers}
            for turn in range(options.rounds):
                # Another server begins each round: what one leaves to the disk disturbs the next.
                names = list(servers)
                for name in names[turn % len(names):] + names[:turn % len(names)]:
                    samples[name].append({**round_on(servers[name], case, requests), **servers[name].memory_bytes()})
            result["medians"] = {name: medians(taken) for name, taken in samples.items()}
    except (Failed, OSError) as error:
        result["remark"] = f"not measured here: {error}"
    return result


def medians(samples):
    """Measure to median; memory is that of the last round."""
    return {measure: samples[-1][measure] if measure.startswith("Rss") else
            float(f"{statistics.median(sample[measure] for sample in samples):.6g}") for measure in samples[0]}


def round_on(server, case, requests):
    case.before(server, requests)
    try:
        return case.load(server, case, requests)
    except Failed as error:
        raise Failed(f"{os.path.basename(server.process.args[0])}: {error}") from error


def chosen(options):
    """The cases that the options ask for, in the order they do."""
    listed = list(cases.all_cases())
    usual = [case for case, default in listed if default or options.full]
    if not options.only:
        return usual
    found = {}
    for pattern in filter(None, map(str.strip, options.only.split(","))):
        matching = named(pattern, usual) or named(pattern, [case for case, _ in listed])
        if not matching:
            sys.exit(f"no case is called {pattern!r}; --list shows all")
        found |= {case.name: case for case in matching}
    return list(found.values())


def named(pattern, among):
    return [case for case in among
            if fnmatch.fnmatchcase(case.name, pattern) or fnmatch.fnmatchcase(case.name, f"{pattern} 3 B")]


def raise_file_limit():
    """Lets the children of this process have the files that many connections need, if the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = peers.MAXIMUM_CLIENTS + 1000
    for limits in ((max(soft, wanted), max(hard, wanted)), (hard, hard)):
        with contextlib.suppress(ValueError, OSError):
            return resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def kept(options):
    """What was measured before under the same conditions, the present source or not; the rest is to be measured again."""
    found, facts = results.load(options.out), results.facts(options)
    if found["facts"] != facts:
        differing = [name for name, value in facts.items() if found["facts"].get(name) != value]
        print(f"Nothing is kept of {options.out}/results.json; other than then: {', '.join(differing)}")
        found = {"cases": [], "tables": {}}
    return {**found, "facts": facts}


def is_current(row, options):
    """Whether a row or a table is there and of the present source. A case that could not be measured is tried again."""
    return row is not None and row["source"] == options.source and row.get("medians", True)


def make_rows(measured, options):
    """Measures the cases and tables that are to be measured, and writes after each of them, so that a run that is
    interrupted leaves what it has."""
    order = [case.name for case, _ in cases.all_cases()]
    for case in chosen(options):
        if options.only or not is_current(results.case(measured, case.name), options):
            results.put_case(measured, measure(case, options), order)
            print(report.line(results.case(measured, case.name)), flush=True)
            report.write(measured, options.out)
    for name, make in ({} if options.only else TABLES).items():
        if not is_current(measured["tables"].get(name), options):
            measured["tables"][name] = {"source": options.source, "date": results.today(), **make(options)}
            print("\n".join(report.table_lines(measured["tables"][name])), flush=True)
            report.write(measured, options.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers.add_options(parser)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the time a measurement takes")
    parser.add_argument("--only", default="", help="comma-separated case names or patterns")
    parser.add_argument("--full", action="store_true", help="the whole product of commands, pipelines and sizes")
    parser.add_argument("--list", action="store_true", help="show the names of the cases and end")
    parser.add_argument("--appendfsync", default="everysec")
    parser.add_argument("--out", default="bench")
    options = parser.parse_args()
    if options.list:
        for case, default in cases.all_cases():
            print(case.name if default else f"{case.name}  (--full)")
        return
    peers.check(options, "redis-benchmark", "redis-cli")
    results.check_build(options.edgecask)
    options.source = results.source()
    raise_file_limit()
    begin = time.monotonic()
    measured = kept(options)
    make_rows(measured, options)
    print(f"{(time.monotonic() - begin) / 60:.1f} minutes; {options.out}/results.md shows all")
    wanted = [case.name for case, default in cases.all_cases() if default]
    faults = list(results.faults(measured, wanted, TABLES, options.source))
    if faults and not options.only:
        sys.exit("\n".join(["Missing or stale:", *faults]))
    if faults:
        print(f"{len(faults)} rows and tables are missing or stale; without --only they are made")
    if not faults and os.path.samefile(options.out, results.REPOSITORY / "bench"):
        figures.write(measured)


if __name__ == "__main__":
    main()
