#!/usr/bin/env python3
"""The queries of the search benchmarks, the same for every engine, drawn from a set of documents that data.py made.

    queries.py DATA/long-100k.tsv OUT/long-100k.queries.tsv

Each line is a query, its columns separated by tabs:

    class       what is measured together
    text        as typed; the last word is a prefix unless the text ends with a space
    size_max    documents of at most this size only, or nothing
    sort        `size`: smallest first instead of by relevance, or nothing
    facets      `section`: count the found documents of each section, or nothing

Words come from names and short descriptions, so that common words come as often as people meet them. The draws depend on the
documents and on nothing else.
"""

import argparse
import pathlib
import re

import data

SEED = 7
# A query for each 97th document's words: documents of all kinds, whatever their order.
EACH = 97
ONE_WORD = 150
PHRASES = 300
STREAMS = 60
# Some 90 of 100 packages are smaller.
SIZE_MAX = 10_000
WORD = re.compile(r"[^\W_]+")


def words(text):
    return WORD.findall(text.lower())


def with_typo(dice, word):
    """A letter less, more, wrong, or two swapped; the first letter stays."""
    at = 1 + dice.below(len(word) - 2)
    letter = dice.pick("abcdefghijklmnopqrstuvwxyz")
    return dice.pick([
        word[:at] + word[at + 1:], word[:at] + letter + word[at:], word[:at] + letter + word[at + 1:],
        word[:at] + word[at + 1] + word[at] + word[at + 2:],
    ])


def make(documents):
    dice = data.Dice(SEED)
    rows = [(words(row["name"]), words(row["short"])) for number, row in enumerate(documents) if number % EACH == 0]
    names = [name for name, _ in rows if name]
    classes = {}
    for length in range(1, 5):
        found = []
        while len(found) < ONE_WORD:
            word = dice.pick(dice.pick(names))
            if len(word) >= length:
                found.append(word[:length])
        classes["1 letter" if length == 1 else f"{length} letters"] = found
    whole, two, three, typos = [], [], [], []
    while len(two) < PHRASES:
        short = dice.pick(rows)[1]
        if len(short) < 4:
            continue
        at = dice.below(len(short) - 2)
        prefix = short[at + 2][:1 + dice.below(len(short[at + 2]))]
        two.append(f"{short[at + 1]} {prefix}")
        three.append(f"{short[at]} {short[at + 1]} {prefix}")
        long = [word for word in short if len(word) >= 6 and word.isascii() and word.isalpha()]
        if long:
            whole.append(long[0])
            typos.append(with_typo(dice, long[0]))
    classes["whole word"] = whole
    classes["word + prefix"] = two
    classes["two words + prefix"] = three
    classes["one typo"] = typos
    classes["keystroke stream"] = [text[:end] for text in two[:STREAMS] for end in range(1, len(text) + 1)]
    for name, texts in classes.items():
        yield from ((name, text, "", "", "") for text in texts)
    yield from (("2 letters, sort, facets", text, "", "size", "section") for text in classes["2 letters"])
    yield from (("2 letters, filter, sort, facets", text, SIZE_MAX, "size", "section") for text in classes["2 letters"])
    yield from (("word + prefix, filter, sort, facets", text, SIZE_MAX, "size", "section") for text in two)


def read(path):
    """The queries of each class, in the order of the file, as tuples (text, size_max or None, sort, facets)."""
    classes = {}
    for line in pathlib.Path(path).read_text(encoding="utf8").splitlines():
        name, text, size_max, sort, facets = line.split("\t")
        classes.setdefault(name, []).append((text, int(size_max) if size_max else None, sort, facets))
    return classes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    lines = ["\t".join(str(part) for part in query) for query in make(data.read(options.documents))]
    options.out.write_text("\n".join(lines) + "\n", encoding="utf8")
    print(f"{options.out}: {len(lines)} queries in {len(read(options.out))} classes")


if __name__ == "__main__":
    main()
