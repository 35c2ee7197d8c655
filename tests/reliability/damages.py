"""One damage to one file of a store, and what it may cost: by the format alone, whatever EdgeCask says of it."""

import dataclasses
import os

from store import Pristine

HEADER_BYTES = 80
PAGE_BYTES = 4096


@dataclasses.dataclass
class Harm:
    """What is done to a file, and what may be different then."""

    name: str
    what: str
    start: int
    end: int
    # Keys that may be lost or unreadable.
    victims: set
    # What a start may show without a word of damage: all, or what a torn end leaves.
    contents: dict
    # The damage reaches bytes that say which key it is, so its name may be lost as well.
    hits_name: bool
    # Every byte of it means something, so it must be found.
    must_be_found: bool

    def __str__(self):
        return f"{self.name}: {self.what}"


def draw_harm(draw, pristine: Pristine, kind):
    """A flipped bit, a cut or a page of zeros in a file of this kind; returns it and how it is done to a directory."""
    name = draw.choice(pristine.names(kind))
    size, written = (pristine.directory / name).stat().st_size, pristine.written_end(name)
    place = draw_place(draw, pristine, name, written)
    how = draw.choices(["flip", "cut", "zeros"], [70, 20, 10])[0]
    original = (pristine.directory / name).read_bytes()
    if how == "flip":
        bit = draw.randrange(8)
        start, end, what = place, place + 1, f"bit {bit} of byte {place} flipped"
        changed = original[:place] + bytes([original[place] ^ 1 << bit]) + original[end:]
    elif how == "cut":
        start, end, what = place, size, f"cut at {place}"
        changed = original[:place]
    else:
        start = place // PAGE_BYTES * PAGE_BYTES
        end, what = min(start + PAGE_BYTES, size), f"zeros from {start} on for {PAGE_BYTES} bytes"
        changed = original[:start] + bytes(end - start) + original[end:]
    means_nothing = not any(original[start:end]) if how != "flip" else start >= written
    harm = Harm(name, what, start, end, set(), pristine.contents, False, kind in ("manifest", "datafile", "blob"))
    if means_nothing and not (how == "cut" and start < written):
        harm.must_be_found = False
    elif kind == "blob":
        harm.victims = pristine.owners.keys_in(name)
    elif kind == "datafile":
        in_datafile(harm, pristine, how)

    def apply(directory):
        with open(os.path.join(directory, name), "wb") as file:
            file.write(changed)

    return harm, apply


def draw_place(draw, pristine, name, written):
    """Often where much depends on few bytes: the header and the end that was not synced."""
    chance = draw.random()
    if name == pristine.active and chance < 0.5:
        return draw.randrange(pristine.synced_end, written)
    if chance > 0.9:
        return draw.randrange(min(HEADER_BYTES, written))
    return draw.randrange(written)


def in_datafile(harm, pristine, how):
    """A header costs at most what is in the file, a broken record its keys, a cut what is behind it."""
    records = pristine.owners.files[harm.name]
    hit = [record for record in records if record.end > harm.start and record.offset < harm.end]
    if harm.start < records[0].offset and harm.end <= records[0].offset:
        hit = []
    harm.victims = set().union(*(pristine.owners.keys_of(record) for record in hit)) if hit else set()
    harm.hits_name = how != "flip" or any(harm.start < record.value_offset for record in hit)
    if harm.name != pristine.active or harm.start < pristine.synced_end:
        return
    # Nothing that was synced is harmed. What is left may be a torn end, if no whole frame is behind it.
    behind = [step for step in pristine.steps if step.end > harm.end]
    is_torn = how == "cut" or not behind_is_whole(pristine, harm, behind)
    if is_torn:
        harm.contents = pristine.contents_cut_at(harm.start)
        harm.must_be_found = False


def behind_is_whole(pristine, harm, behind):
    """Whether a step stands behind the damage as a whole: its frame begins where the one before ends."""
    ends = [pristine.synced_end, *(step.end for step in pristine.steps)]
    begins = dict(zip(ends[1:], ends))
    return any(begins[step.end] >= harm.end for step in behind)
