#!/usr/bin/env python3
"""Salvage that is killed on its way, again and again, before it may end: nothing more may be lost than without the kills.

    killed_salvage.py --edgecask target/release/edgecask [--rounds 60] [--seed 15]

Each round damages one datafile or the manifest of a copy (several places), notes what `repair` saves, then begins
`serve --on-damage salvage` and kills it after a moment, some times, and at last lets it end. The promises:

- the last start shows what repair saved, but for keys that salvage leaves with an error;
- the damaged originals are still there as they were, under their names, as `.damaged` or as `.torn-OFFSET`;
- afterwards a start that refuses damage does not refuse.

Exits with 1 if a promise is broken.
"""

import argparse
import collections
import pathlib
import random
import shutil
import signal
import tempfile

from client import Client
from contents import differences, read_all
from damages import draw_harm
from flips import STORE_OPTIONS, shown
from programs import DAMAGED, DidNotStart, Edgecask, Promises, arguments, fresh_copy
from store import DATABASES, build

KILLS_MAX = 4
KILL_AFTER_S = (0.005, 0.12)
PLACES_MAX = 3


def contents_of(edgecask, directory, *options):
    with edgecask.serve(directory, *options) as server, Client(server.port) as client:
        found = read_all(client, DATABASES)
        server.stop(signal.SIGKILL)
    return found


def a_round(edgecask, scratch, pristine, draw, hold):
    """Returns in a word what came of it."""
    damaged = fresh_copy(pristine.directory, scratch / "damaged")
    mended = scratch / "mended"
    shutil.rmtree(mended, ignore_errors=True)
    harms = {}
    for _ in range(draw.randrange(1, PLACES_MAX + 1)):
        # Damages of the same file would undo each other.
        harm, apply = draw_harm(draw, pristine, draw.choice(["datafile", "datafile", "manifest"]))
        if harms.setdefault(harm.name, harm) is harm:
            apply(damaged)
    where = "; ".join(map(str, harms.values()))
    originals = {name: (damaged / name).read_bytes() for name in harms}
    status, report = edgecask.repair(damaged, mended)
    if status != DAMAGED:
        hold(status == 0, f"{where}: repair: {report}")
        return "harmless"
    saved = contents_of(edgecask, mended)
    kills = draw.randrange(1, KILLS_MAX)
    for _ in range(kills):
        edgecask.start_and_kill(damaged, draw.uniform(*KILL_AFTER_S), "--on-damage", "salvage")
    try:
        found = contents_of(edgecask, damaged, "--on-damage", "salvage")
        unreadable, wrong = differences(saved, found)
        hold(not wrong, f"{where}, {kills} kills: {shown(wrong, saved, found)}")
        hold(unreadable <= set().union(*(harm.victims for harm in harms.values())), f"{where}: {shown(unreadable)}")
        again = contents_of(edgecask, damaged)
        hold(again == found, f"{where}: the start after shows something else")
    except DidNotStart as refusal:
        hold(False, f"{where}, {kills} kills: {refusal}")
        return "does not start"
    for name, harm in harms.items():
        if name.endswith(".data") and harm.must_be_found:
            # What is behind the last record is zeros, which a start cuts off.
            written = originals[name][:pristine.written_end(name)]
            there = sorted(path.name for path in damaged.iterdir())
            hold(is_kept(damaged, name, written), f"{where}, {kills} kills: the damaged {name} is gone: {there}")
    return "salvaged"


def is_kept(directory, name, written):
    """Whether a damaged file is still there, perhaps set aside, or in two parts: what was left of it and what was cut off."""
    number = name.removesuffix(".data")
    whole = [directory / name, directory / f"{number}.damaged"]
    contents = {path: path.read_bytes() for path in whole if path.exists()}
    if any(content.startswith(written) for content in contents.values()):
        return True
    for torn in directory.glob(f"{number}.torn-*"):
        offset = int(torn.name.rsplit("-", 1)[1])
        if any((content[:offset] + torn.read_bytes()).startswith(written) for content in contents.values()):
            return True
    return False


def main():
    parser = arguments(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--only", type=int, help="the number of a round, to see that one again")
    options = parser.parse_args()
    promises, outcomes = Promises(options.seed), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="edgecask-salvage-", dir=options.scratch) as scratch:
        scratch = pathlib.Path(scratch)
        edgecask = Edgecask(options.edgecask, scratch, STORE_OPTIONS)
        pristine = build(edgecask, scratch / "pristine", options.seed)
        for number in range(options.rounds) if options.only is None else [options.only]:
            draw = random.Random(f"{options.seed} {number}")
            hold = lambda is_so, text: promises.hold(is_so, f"round {number}, {text}")
            outcomes[a_round(edgecask, scratch, pristine, draw, hold)] += 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{outcome:30} {count:5}")
    promises.end()


if __name__ == "__main__":
    main()
