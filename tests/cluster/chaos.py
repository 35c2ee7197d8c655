"""Faults of the cluster, one after another by chance, until somebody has seen enough."""

import collections
import threading

from harness import SLOTS, STORES

# Of these an answer is lost, or never comes.
BREAKABLE = ("KvGet", "KvBatchGet", "KvPrewrite", "KvCommit", "KvBatchRollback", "KvCheckTxnStatus", "KvResolveLock", "GetRegion")
PAUSE_S = (0.02, 0.25)
# How long a store or PD is away.
AWAY_S = (0.2, 1.2)


class Chaos(threading.Thread):
    """Breaks a cluster on which a store is used. `done` counts what was done; after `end` everything is as before."""

    def __init__(self, cluster, store, draw):
        super().__init__(daemon=True)
        self.cluster, self.store, self.draw = cluster, store, draw
        self.done, self.is_over, self.problem = collections.Counter(), threading.Event(), None
        # The usual ones are those that take no time.
        self.ways = [self.split] * 4 + [self.merge] * 3 + [self.shuffle] * 4 + [self.lose] * 6 + [self.hang, self.slow]
        self.ways += [self.store_away, self.store_killed, self.pd_away, self.pd_killed]

    def run(self):
        try:
            while not self.is_over.wait(self.draw.uniform(*PAUSE_S)):
                way = self.draw.choice(self.ways)
                way()
                self.done[way.__name__] += 1
        except Exception as error:  # The thread that ends this one tells it.
            self.problem = error

    def end(self):
        self.is_over.set()
        self.join()
        self.cluster.heal()
        if self.problem:
            raise self.problem

    def split(self):
        self.cluster.split_at(self.store, self.draw.randrange(SLOTS))

    def merge(self):
        self.cluster.merge_any(self.draw)

    def shuffle(self):
        self.cluster.ask("/leader/shuffle")

    def lose(self):
        """Requests that are done, and their answers are lost, or that are refused."""
        fault = self.draw.choice(("drop", "drop", "refuse"))
        method = self.draw.choice((*BREAKABLE, "KvPrewrite", "KvCommit", "own%20KvPrewrite", "own%20KvScan"))
        self.cluster.ask(f"/{fault}?method={method}&n={self.draw.randint(1, 3)}")

    def hang(self):
        """Nothing comes back, whether or not it was done."""
        self.cluster.ask(f"/{self.draw.choice(('hang', 'mute'))}?method={self.draw.choice(BREAKABLE)}&n=1")

    def slow(self):
        """What comes late is done, whether or not somebody still waits for it."""
        method = self.draw.choice(("KvPrewrite", "KvCommit", "KvGet"))
        self.cluster.ask(f"/delay?method={method}&us={self.draw.randint(100_000, 1_500_000)}")
        self.is_over.wait(0.3)
        self.cluster.ask(f"/delay?method={method}&us=0")

    def store_away(self):
        store = self.draw.choice(STORES)
        self.cluster.ask(f"/store?id={store}&up=0")
        self.others_lead(store)
        self.cluster.ask(f"/store?id={store}&up=1")

    def store_killed(self):
        store = self.draw.choice(STORES)
        self.cluster.ask(f"/end?id={store}")
        self.others_lead(store)
        self.cluster.ask(f"/begin?id={store}")

    def others_lead(self, store):
        away_s = self.draw.uniform(*AWAY_S)
        self.is_over.wait(away_s / 2)
        self.cluster.ask(f"/leader/away?store={store}")
        self.is_over.wait(away_s / 2)

    def pd_away(self):
        self.cluster.ask("/pd?up=0")
        self.is_over.wait(self.draw.uniform(*AWAY_S))
        self.cluster.ask("/pd?up=1")

    def pd_killed(self):
        self.cluster.ask("/end?id=0")
        self.is_over.wait(self.draw.uniform(*AWAY_S))
        self.cluster.ask("/begin?id=0")
