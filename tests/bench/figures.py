#!/usr/bin/env python3
"""The figures in README.md and docs/, made from bench/results.json: nobody copies them by hand.

    figures.py           compares the pages, results.md and results.svg with results.json; `make lint` does
    figures.py --write   makes them anew, as `make bench` does at its end

A page has such a part between `<!-- figures: NAME -->` and `<!-- end of figures -->`.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import report
import results as stored
from peers import REPOSITORY

PAGES = ("README.md", "docs/benchmarks.md")
PART = re.compile(r"(?<=<!-- figures: )(\w+)( -->\n)(.*?)(?=<!-- end of figures -->)", re.DOTALL)


def medians(results, name):
    """What was measured of a case, which a page shows."""
    case = stored.case(results, name)
    return case["medians"] if case else sys.exit(f"bench/results.json lacks {name}")


def three(results):
    """The three figures of the README."""
    get, put = medians(results, "GET 3 B -P 16"), medians(results, "SET 3 B -P 16")
    memory = next(row for row in results["tables"]["reopen"]["rows"] if row[0] == "memory for a key")
    version = results["facts"]["Redis"].rsplit("=", 1)[-1]
    servers = ("edgecask", "redis")
    return report.table(
        [f"beside redis-server {version}, both syncing every second", "EdgeCask", "Redis"],
        [["memory for each of a million keys of 16 bytes with values of 3 bytes", *memory[1:]],
         ["GET of 3 bytes, 50 connections, pipelines of 16: requests/s", *(report.requests(get[name]) for name in servers)],
         ["SET of 3 bytes, the same: server CPU for a request", *(f"{report.cpu(put[name])} µs" for name in servers)]])


def shown_table(name):
    def lines(results):
        table = results["tables"].get(name)
        if table is None:
            return ["Not measured since this table was added."]
        return [f"{table['date']}, `{table['command']}`.", "", *report.table(table["head"], table["rows"])]
    return lines


MAKERS = {"three": three, "memory": shown_table("memory"), "many_keys": shown_table("many_keys")}


def made(results):
    """Every page with what it is to be, by its path from the root."""
    pages = {f"bench/{name}": text for name, text in report.pages(results).items()}
    for page in PAGES:
        def part(match):
            return f"{match[1]}{match[2]}" + "\n".join(MAKERS[match[1]](results)) + "\n"
        pages[page], count = PART.subn(part, (REPOSITORY / page).read_text())
        if count == 0:
            sys.exit(f"{page}: no part of it is made from results.json")
    return pages


def write(results):
    for page, text in made(results).items():
        (REPOSITORY / page).write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="make the pages anew instead of comparing them")
    options = parser.parse_args()
    results = stored.load(REPOSITORY / "bench")
    if options.write:
        return write(results)
    stale = [page for page, text in made(results).items() if (REPOSITORY / page).read_text() != text]
    if stale:
        sys.exit(f"{', '.join(stale)}: not what bench/results.json says; python3 tests/bench/figures.py --write")


if __name__ == "__main__":
    main()
