"""The differences from another program that are meant, each with its reason; it is redis-server unless it is named.

A file of them has paragraphs of four lines; `*` stands for any text, and a bracket for itself:

    > what was asked
    redis: its reply
    edgecask: the other reply
    why: the reason

Replies are written as `shown` writes them. A difference that no run meets any more is a problem, too.
"""

import dataclasses
import fnmatch


@dataclasses.dataclass
class Difference:
    """One meant difference, and whether a run has met it."""

    asked: str
    theirs: str
    edgecask: str
    why: str
    is_met: bool = False


def shown(reply):
    """A reply as one line of ASCII."""
    return reply.decode("latin-1").encode("unicode_escape").decode()


def fits(pattern, text):
    return fnmatch.fnmatchcase(text, pattern.replace("[", "[[]"))


class Explained:
    """The meant differences of one file."""

    def __init__(self, path, other="redis"):
        self.path, self.other = path, other
        paragraphs = path.read_text().strip().split("\n\n")
        self.differences = [self.parse(paragraph) for paragraph in paragraphs if paragraph]

    def parse(self, paragraph):
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        heads = ["> ", f"{self.other}: ", "edgecask: ", "why: "]
        if len(lines) != len(heads) or not all(map(str.startswith, lines, heads)):
            raise SystemExit(f"{self.path.name}: not four lines of a difference:\n{paragraph}")
        return Difference(*(line.removeprefix(head) for line, head in zip(lines, heads)))

    def covers(self, asked, theirs, edgecask):
        """Whether these replies differ as is meant."""
        for difference in self.differences:
            if fits(difference.asked, asked) and fits(difference.theirs, theirs) and fits(difference.edgecask, edgecask):
                difference.is_met = True
                return True
        return False

    def unmet(self):
        return [f"{self.path.name}: no run meets this any more: > {difference.asked}"
                for difference in self.differences if not difference.is_met]
