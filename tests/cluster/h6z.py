import sys, random, time
from harness import Cluster, encode
from load import Load
import figures
cluster = Cluster("/tmp/h6_edgecask2")
try:
    n=int(sys.argv[1]); c=int(sys.argv[2])
    g = figures.start(cluster, "z", n)
    load = Load(g, c, lambda: encode("ZADD", "set", random.random(), f"member{random.getrandbits(48):015}"), 4)
    load.run(2)
    facts=("cluster_writes","cluster_reads","cluster_conflicts","cluster_unavailable","cluster_unknown_writes")
    b={f:sum(x.fact(f) for x in g) for f in facts}; cpu=sum(x.cpu_seconds() for x in g)
    f=load.run(8)
    a={k:sum(x.fact(k) for x in g)-b[k] for k in facts}
    print(f, "cpu us/op", (sum(x.cpu_seconds() for x in g)-cpu)/f.count*1e6, f.count, a, flush=True)
finally:
    cluster.end()
