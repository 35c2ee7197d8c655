#!/usr/bin/env python3
"""Files of a store that are lost, of another store, or older copies of themselves.

    missing.py --edgecask target/release/edgecask [--rounds 8] [--seed 15]

Every datafile, every blob and the manifest is in turn removed, replaced by the file of the same name of another store, and
by what it was before the last part was written. The promises:

- a start refuses and names the file, or (a blob) answers reads of its key by an error that names it;
- `check` names the file;
- `repair` and salvage keep every key of which nothing stood in the file.

Exits with 1 if a promise is broken.
"""

import argparse
import pathlib
import random
import tempfile

from damages import Harm
from flips import STORE_OPTIONS, Round
from programs import Edgecask, Promises, arguments, fresh_copy
from store import build


def harms(pristine, older, foreign, draw):
    """Every file and every way, as a Harm and how it is done."""
    names = pristine.names("datafile") + pristine.names("blob") + pristine.names("manifest")
    for name in names:
        for how, source in (("removed", None), ("of another store", foreign), ("an older copy", older)):
            original = (pristine.directory / name).read_bytes()
            replacement = b""
            if source:
                candidates = [source / name] if (source / name).exists() else []
                if how == "of another store":
                    candidates = candidates or sorted(source.glob("*" + pathlib.Path(name).suffix))
                if not candidates:
                    continue
                replacement = draw.choice(candidates).read_bytes()
                if replacement == original:
                    continue
            yield harm_of(pristine, name, how, original, replacement), (lambda directory, name=name, source=source,
                         replacement=replacement: put(pathlib.Path(directory) / name, source and replacement))


def harm_of(pristine, name, how, original, replacement):
    """An older copy that only lacks its end costs what is behind it."""
    same = 0
    if name.endswith(".data") and how == "an older copy":
        same = next((at for at, (old, new) in enumerate(zip(replacement, original)) if old != new), len(replacement))
    victims = set() if name == "MANIFEST" else pristine.owners.keys_in(name, same)
    # An older manifest may list what there is, and then harms nothing.
    must_be_found = (name, how) != ("MANIFEST", "an older copy")
    return Harm(name, how, same, len(original), victims, pristine.contents, True, must_be_found)


def put(path, content):
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


def main():
    parser = arguments(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    parser.add_argument("--rounds", type=int, help="so many cases, drawn at random [default: all]")
    parser.add_argument("--only", type=int, help="the number of a case, to see that one again")
    options = parser.parse_args()
    promises = Promises(options.seed)
    with tempfile.TemporaryDirectory(prefix="edgecask-missing-", dir=options.scratch) as scratch:
        scratch = pathlib.Path(scratch)
        edgecask = Edgecask(options.edgecask, scratch, STORE_OPTIONS)
        older = scratch / "older"
        directory = scratch / "pristine"
        pristine = build(edgecask, directory, options.seed, lambda: fresh_copy(directory, older))
        foreign = build(edgecask, scratch / "foreign", options.seed + 1).directory
        print(f"{'file':28} {'is':18} {'a start':36} keys in it")
        draw = random.Random(options.seed)
        cases = list(enumerate(harms(pristine, older, foreign, draw)))
        if options.only is not None:
            cases = [cases[options.only]]
        elif options.rounds:
            cases = sorted(draw.sample(cases, min(options.rounds, len(cases))), key=lambda case: case[0])
        for number, (harm, apply) in cases:
            one = Round(edgecask, scratch, pristine, promises, harm, apply, number)
            one.run()
            print(f"{harm.name:28} {harm.what:18} {one.outcome or '(see above)':36} {len(harm.victims):5}", flush=True)
    promises.end()


if __name__ == "__main__":
    main()
