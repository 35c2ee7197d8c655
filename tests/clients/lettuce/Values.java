import io.lettuce.core.*;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The flows of one connection at a time: every type, pipelines, transactions, iterators. */
@SuppressWarnings("unchecked") // Arrays of ScoredValue<String>, made for calls with any number of them.
final class Values {
    private Values() {}

    static void addTo(Map<String, Flow> flows) {
        flows.put("connect", Values::connect);
        flows.put("strings", Values::strings);
        flows.put("hashes", Values::hashes);
        flows.put("lists", Values::lists);
        flows.put("sets", Values::sets);
        flows.put("sorted sets", Values::sortedSets);
        flows.put("bits", Values::bits);
        flows.put("hyperloglog", Values::hyperloglog);
        flows.put("geo", Values::geo);
        flows.put("sort", Values::sort);
        flows.put("administration", Values::administration);
        flows.put("expiry", Values::expiry);
        flows.put("binary values", Values::binaryValues);
        flows.put("large values", Values::largeValues);
        flows.put("pipelines", Values::pipelines);
        flows.put("transactions", Values::transactions);
        flows.put("aborted transaction", Values::abortedTransaction);
        flows.put("lock without scripts", Values::lockWithoutScripts);
        flows.put("scan iterators", Values::scanIterators);
    }

    private static void connect() {
        RedisURI named = Flows.uri();
        named.setClientName("flows");
        RedisURI second = Flows.uri();
        second.setDatabase(1);
        try (var one = Flows.client.connect(named); var two = Flows.client.connect(second)) {
            RedisCommands<String, String> r = one.sync();
            RedisCommands<String, String> other = two.sync();
            Flow.same(r.ping(), "PONG");
            Flow.same(r.echo("hello"), "hello");
            Flow.same(r.clientGetname(), "flows");
            Flow.same(r.clientInfo().contains(" resp=" + Flows.protocol), true);
            Flow.same(other.set("only", "here"), "OK");
            Flow.same(r.exists("only"), 0L);
            Flow.same(other.dbsize(), 1L);
            other.flushdb();
        }
    }

    private static void strings() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.set("s", "1", SetArgs.Builder.nx().ex(100)), "OK");
            Flow.same(r.set("s", "2", SetArgs.Builder.nx()), null);
            Flow.same(r.setGet("s", "2"), "1");
            Flow.same(r.incrby("s", 40), 42L);
            Flow.same(r.incrbyfloat("s", 0.5), 42.5);
            Flow.same(r.append("s", "0"), 5L);
            Flow.same(r.mset(Map.of("a", "1", "b", "2")), "OK");
            Flow.same(r.mget("a", "nothing", "b").stream().map(each -> each.getValueOrElse("-")).toList(),
                    List.of("1", "-", "2"));
            Flow.same(r.getdel("a"), "1");
            Flow.fails("wrong kind of value", () -> r.lpush("s", "x"));
        }
    }

    private static void hashes() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.hset("h", Map.of("f", "1", "g", "2")), 2L);
            Flow.same(r.hgetall("h"), Map.of("f", "1", "g", "2"));
            Flow.same(r.hincrby("h", "f", 9), 10L);
            Flow.same(r.hmget("h", "f", "none").stream().map(each -> each.getValueOrElse("-")).toList(),
                    List.of("10", "-"));
            Flow.same(r.hdel("h", "f", "none"), 1L);
            Flow.same(r.hrandfieldWithvalues("h", 5), List.of(KeyValue.just("g", "2")));
        }
    }

    private static void lists() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.rpush("l", "a", "b", "c", "d"), 4L);
            Flow.same(r.lrange("l", 0, -1), List.of("a", "b", "c", "d"));
            Flow.same(r.lpop("l", 2), List.of("a", "b"));
            Flow.same(r.linsert("l", true, "d", "x"), 3L);
            Flow.same(r.lpos("l", "x"), 1L);
            Flow.same(r.lmove("l", "m", LMoveArgs.Builder.rightLeft()), "d");
            Flow.same(r.lmpop(LMPopArgs.Builder.left().count(9), "none", "l"),
                    KeyValue.just("l", List.of("c", "x")));
            Flow.same(r.lpop("l"), null);
        }
    }

    private static void sets() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.sadd("s1", "a", "b", "c"), 3L);
            Flow.same(r.sadd("s2", "b", "c", "d"), 3L);
            Flow.same(r.sinter("s1", "s2"), Set.of("b", "c"));
            Flow.same(r.sintercard(1, "s1", "s2"), 1L);
            Flow.same(r.sdiffstore("s3", "s1", "s2"), 1L);
            Flow.same(r.smismember("s1", "a", "z"), List.of(true, false));
            Flow.same(r.spop("s1", 9), Set.of("a", "b", "c"));
        }
    }

    private static void sortedSets() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.zadd("z", ScoredValue.just(1, "a"), ScoredValue.just(2.5, "b"),
                    ScoredValue.just(Double.POSITIVE_INFINITY, "c")), 3L);
            Flow.same(r.zrangeWithScores("z", 0, -1), List.of(ScoredValue.just(1, "a"), ScoredValue.just(2.5, "b"),
                    ScoredValue.just(Double.POSITIVE_INFINITY, "c")));
            Flow.same(r.zincrby("z", 2, "a"), 3.0);
            Flow.same(r.zrangebyscore("z", Range.from(Range.Boundary.excluding(2.5), Range.Boundary.unbounded())),
                    List.of("a", "c"));
            Flow.same(r.zrevrank("z", "a"), 1L);
            Flow.same(r.zmscore("z", "b", "none"), Arrays.asList(2.5, null));
            Flow.same(r.zadd("z", ZAddArgs.Builder.gt().ch(), 1.0, "b"), 0L);
            Flow.same(r.zpopmin("z", 2), List.of(ScoredValue.just(2.5, "b"), ScoredValue.just(3, "a")));
        }
    }

    private static void bits() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            for (long place : new long[] {1, 7, 100}) {
                Flow.same(r.setbit("bm", place, 1), 0L);
            }
            Flow.same(r.bitcount("bm"), 3L);
            Flow.same(r.bitpos("bm", true, 1), 100L);
            Flow.same(r.bitopNot("not bm", "bm"), 13L);
            Flow.same(r.bitfield("f", BitFieldArgs.Builder.overflow(BitFieldArgs.OverflowType.SAT)
                    .set(BitFieldArgs.unsigned(8), 0, 250).incrBy(BitFieldArgs.unsigned(8), 0, 10)),
                    List.of(0L, 255L));
        }
    }

    private static void hyperloglog() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.pfadd("p1", IntStream.range(0, 1000).mapToObj(Integer::toString).toArray(String[]::new)), 1L);
            Flow.same(r.pfadd("p2", "one more"), 1L);
            Flow.same(r.pfmerge("p", "p1", "p2"), "OK");
            Flow.same(r.pfcount("p"), r.pfcount("p1", "p2"));
        }
    }

    private static void geo() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.geoadd("g", 13.361389, 38.115556, "Palermo"), 1L);
            Flow.same(r.geoadd("g", 15.087269, 37.502669, "Catania"), 1L);
            Flow.same(Math.round(r.geodist("g", "Palermo", "Catania", GeoArgs.Unit.km)), 166L);
            List<GeoWithin<String>> near = r.geosearch("g", GeoSearch.fromCoordinates(15, 37),
                    GeoSearch.byRadius(200, GeoArgs.Unit.km), GeoArgs.Builder.full().asc());
            Flow.same(near.stream().map(GeoWithin::getMember).toList(), List.of("Catania", "Palermo"));
            Flow.same(near.get(0).getGeohash(), 3479447370796909L);
        }
    }

    private static void sort() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            r.rpush("ids", "3", "1", "2");
            r.mset(Map.of("weight:1", "30", "weight:2", "20", "weight:3", "10"));
            Flow.same(r.sort("ids", SortArgs.Builder.by("weight:*").get("#")), List.of("3", "2", "1"));
            Flow.same(r.sortStore("ids", SortArgs.Builder.limit(0, 2), "sorted"), 2L);
        }
    }

    private static void administration() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.info().contains("redis_version:"), true);
            Flow.same(r.configSet("slowlog-log-slower-than", "10000"), "OK");
            Flow.same(r.configGet("slowlog-log-slower-than"), Map.of("slowlog-log-slower-than", "10000"));
            r.set("a", "1");
            Flow.same(r.objectEncoding("a"), "int");
            Flow.same(r.memoryUsage("a") > 0, true);
            Flow.same(r.commandInfo("get").size(), 1);
            Flow.same(r.role().get(0), "master");
            Flow.same(r.restore("a2", r.dump("a"), new RestoreArgs().ttl(100_000)), "OK");
            Flow.same(r.get("a2"), "1");
        }
    }

    private static void expiry() throws Exception {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.psetex("e", 60, "v"), "OK");
            Flow.eventually("the expiry", () -> r.get("e") == null);
            Flow.same(r.ttl("e"), -2L);
            r.setex("e", 100, "v");
            Flow.same(r.expire("e", 50, ExpireArgs.Builder.gt()), false);
            Flow.same(r.persist("e"), true);
        }
    }

    private static void binaryValues() {
        byte[] all = new byte[1027];
        for (int index = 0; index < all.length; index++) {
            all[index] = (byte) index;
        }
        try (var connection = Flows.client.connect(ByteArrayCodec.INSTANCE)) {
            RedisCommands<byte[], byte[]> r = connection.sync();
            Flow.same(r.set(all, all), "OK");
            Flow.same(r.get(all), all);
            byte[] hash = {0, 1};
            Flow.same(r.hset(hash, all, all), true);
            Flow.same(r.hkeys(hash).get(0), all);
        }
    }

    private static void largeValues() {
        byte[] large = "0123456789".repeat(500_000).getBytes();
        byte[] key = "large".getBytes();
        byte[] list = "large list".getBytes();
        try (var connection = Flows.client.connect(ByteArrayCodec.INSTANCE)) {
            RedisCommands<byte[], byte[]> r = connection.sync();
            Flow.same(r.set(key, large), "OK");
            Flow.same(r.get(key), large);
            Flow.same(r.rpush(list, large, large), 2L);
            Flow.same(r.lrange(list, 0, -1).toArray(), new Object[] {large, large});
            Flow.same(r.del(key, list), 2L);
        }
    }

    private static void pipelines() throws Exception {
        try (var connection = Flows.client.connect()) {
            RedisAsyncCommands<String, String> r = connection.async();
            connection.setAutoFlushCommands(false);
            List<RedisFuture<Long>> counted = new ArrayList<>();
            for (int number = 0; number < 1000; number++) {
                r.set("p:" + number, Integer.toString(number));
                counted.add(r.incr("p:" + number));
            }
            RedisFuture<String> text = r.set("p:x", "text");
            RedisFuture<Long> wrong = r.incr("p:x");
            RedisFuture<String> last = r.get("p:x");
            connection.flushCommands();
            for (int number = 0; number < 1000; number++) {
                Flow.same(counted.get(number).get(5, TimeUnit.SECONDS), number + 1L);
            }
            Flow.same(text.get(5, TimeUnit.SECONDS), "OK");
            Flow.fails("not an integer", () -> wrong.get(5, TimeUnit.SECONDS));
            Flow.same(last.get(5, TimeUnit.SECONDS), "text");
        }
    }

    private static void transactions() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.multi(), "OK");
            r.set("t", "1");
            r.incr("t");
            r.lrange("none", 0, -1);
            Flow.same(r.exec().stream().toList(), List.of("OK", 2L, List.of()));
            r.watch("t");
            long value = Long.parseLong(r.get("t"));
            r.multi();
            r.set("t", Long.toString(value * 2));
            Flow.same(r.exec().wasDiscarded(), false);
            Flow.same(r.get("t"), "4");
            r.multi();
            r.set("t", "text");
            r.incr("t");
            TransactionResult mixed = r.exec();
            Flow.same(mixed.get(0), "OK");
            Flow.same(mixed.get(1) instanceof RedisCommandExecutionException, true);
        }
    }

    private static void abortedTransaction() {
        try (var connection = Flows.client.connect(); var second = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            r.watch("w");
            second.sync().set("w", "changed");
            r.multi();
            r.set("w", "mine");
            Flow.same(r.exec().wasDiscarded(), true);
            Flow.same(r.get("w"), "changed");
            r.multi();
            r.set("w", "mine");
            Flow.same(r.discard(), "OK");
            Flow.same(r.get("w"), "changed");
        }
    }

    /** SET NX PX takes it; WATCH gives it back only if it is still one's own. */
    private static void lockWithoutScripts() {
        try (var connection = Flows.client.connect(); var second = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            RedisCommands<String, String> other = second.sync();
            Flow.same(r.set("lock", "one", SetArgs.Builder.nx().px(10_000)), "OK");
            Flow.same(other.set("lock", "two", SetArgs.Builder.nx().px(10_000)), null);
            Flow.same(release(other, "two"), false);
            Flow.same(release(r, "one"), true);
            Flow.same(other.set("lock", "two", SetArgs.Builder.nx().px(10_000)), "OK");
        }
    }

    private static boolean release(RedisCommands<String, String> holder, String token) {
        holder.watch("lock");
        if (!token.equals(holder.get("lock"))) {
            holder.unwatch();
            return false;
        }
        holder.multi();
        holder.del("lock");
        return !holder.exec().wasDiscarded();
    }

    private static void scanIterators() {
        try (var connection = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Map<String, String> all = IntStream.range(0, 1000).boxed()
                    .collect(Collectors.toMap(number -> "scan:" + number, number -> "v"));
            r.mset(all);
            r.hset("scanned hash", all);
            r.sadd("scanned set", all.keySet().toArray(String[]::new));
            all.keySet().forEach(name -> connection.async().zadd("scanned zset", 1, name));
            Flow.same(ScanIterator.scan(r, ScanArgs.Builder.matches("scan:*").limit(50)).stream()
                    .collect(Collectors.toSet()), all.keySet());
            Flow.same(ScanIterator.hscan(r, "scanned hash").stream().map(KeyValue::getKey)
                    .collect(Collectors.toSet()), all.keySet());
            Flow.same(ScanIterator.sscan(r, "scanned set").stream().collect(Collectors.toSet()), all.keySet());
            Flow.same(ScanIterator.zscan(r, "scanned zset").stream().map(ScoredValue::getValue)
                    .collect(Collectors.toSet()), all.keySet());
            Flow.same(r.unlink(all.keySet().toArray(String[]::new)), 1000L);
        }
    }
}
