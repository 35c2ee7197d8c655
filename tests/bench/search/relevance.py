#!/usr/bin/env python3
"""Judges what engines answered to judged queries: how often an expected answer came first, among five, and its mean rank.

    relevance.py relevance-films.tsv ANSWERS... [--misses]

A judged file has a query on each line, a tab, and the ids that count as right, separated by commas; lines with # are
comments. An answers file has the same queries in any order, a tab, and the ids that the engine gave, best first. MRR is the
mean over the queries of 1/rank of the first right answer among ten, 0 if there is none.
"""

import argparse
import pathlib

TOP = 10


def read(path):
    """The queries of a judged file or an answers file with their lists of ids."""
    lines = pathlib.Path(path).read_text(encoding="utf8").splitlines()
    queries = {}
    for line in lines:
        if line and not line.startswith("#"):
            text, ids = line.split("\t")
            queries[text] = [name for name in ids.split(",") if name]
    return queries


def ranks(judged, answers):
    for text, right in judged.items():
        given = answers[text][:TOP]
        yield text, next((rank for rank, name in enumerate(given, 1) if name in right), None), given


def summary(judged, answers):
    found = [rank for _, rank, _ in ranks(judged, answers)]
    first, among_five = sum(rank == 1 for rank in found), sum(rank is not None and rank <= 5 for rank in found)
    return first, among_five, sum(1 / rank for rank in found if rank) / len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judged", type=pathlib.Path)
    parser.add_argument("answers", type=pathlib.Path, nargs="+")
    parser.add_argument("--misses", action="store_true", help="list the queries whose first answer is not a right one")
    options = parser.parse_args()
    judged = read(options.judged)
    print(f"{options.judged.name}: {len(judged)} queries")
    print(f"{'engine':28} {'@1':>9} {'@5':>9}   MRR")
    for path in options.answers:
        answers = read(path)
        first, among_five, mrr = summary(judged, answers)
        shares = [f"{count} {100 * count / len(judged):3.0f} %" for count in (first, among_five)]
        print(f"{path.name.removesuffix('.answers.tsv'):28} {shares[0]:>9} {shares[1]:>9}  {mrr:.3f}")
        if options.misses:
            for text, rank, given in ranks(judged, answers):
                if rank != 1:
                    print(f"    {text:28} {f'rank {rank}' if rank else 'none':7}  {', '.join(given[:4])}")


if __name__ == "__main__":
    main()
