import io.lettuce.core.*;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.models.stream.ClaimedMessages;
import io.lettuce.core.models.stream.PendingMessages;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.CacheFrontend;
import io.lettuce.core.support.caching.ClientSideCaching;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Lettuce's own flows: Flows PORT PROTOCOL. */
@SuppressWarnings("unchecked") // Arrays of ScoredValue<String>, made for calls with any number of them.
public final class Flows {
    private static RedisClient client;
    private static int port;
    private static int protocol;

    public static void main(String[] arguments) {
        port = Integer.parseInt(arguments[0]);
        protocol = Integer.parseInt(arguments[1]);
        client = RedisClient.create(uri());
        client.setOptions(ClientOptions.builder()
                .protocolVersion(protocol == 3 ? ProtocolVersion.RESP3 : ProtocolVersion.RESP2).build());
        Map<String, Flow> flows = new LinkedHashMap<>();
        flows.put("connect", Flows::connect);
        flows.put("strings", Flows::strings);
        flows.put("hashes", Flows::hashes);
        flows.put("lists", Flows::lists);
        flows.put("sets", Flows::sets);
        flows.put("sorted sets", Flows::sortedSets);
        flows.put("bits", Flows::bits);
        flows.put("hyperloglog", Flows::hyperloglog);
        flows.put("geo", Flows::geo);
        flows.put("sort", Flows::sort);
        flows.put("administration", Flows::administration);
        flows.put("expiry", Flows::expiry);
        flows.put("binary values", Flows::binaryValues);
        flows.put("large values", Flows::largeValues);
        flows.put("pipelines", Flows::pipelines);
        flows.put("transactions", Flows::transactions);
        flows.put("aborted transaction", Flows::abortedTransaction);
        flows.put("lock without scripts", Flows::lockWithoutScripts);
        flows.put("pub sub", Flows::pubSub);
        flows.put("pub sub patterns", Flows::pubSubPatterns);
        flows.put("blocking timeout", Flows::blockingTimeout);
        flows.put("blocking with producer", Flows::blockingWithProducer);
        flows.put("streams", Flows::streams);
        flows.put("stream groups", Flows::streamGroups);
        flows.put("blocking stream reads", Flows::blockingStreamReads);
        flows.put("scan iterators", Flows::scanIterators);
        flows.put("reconnect", Flows::reconnect);
        flows.put("reconnect of a subscriber", Flows::reconnectOfSubscriber);
        if (protocol == 3) {
            flows.put("client side cache", Flows::clientSideCache);
        }
        boolean fine = Flow.runAll(flows);
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        System.exit(fine ? 0 : 1);
    }

    private static RedisURI uri() {
        return RedisURI.create("127.0.0.1", port);
    }

    private static void connect() {
        RedisURI named = uri();
        named.setClientName("flows");
        RedisURI second = uri();
        second.setDatabase(1);
        try (var one = client.connect(named); var two = client.connect(second)) {
            RedisCommands<String, String> r = one.sync();
            RedisCommands<String, String> other = two.sync();
            Flow.same(r.ping(), "PONG");
            Flow.same(r.echo("hello"), "hello");
            Flow.same(r.clientGetname(), "flows");
            Flow.same(r.clientInfo().contains(" resp=" + protocol), true);
            Flow.same(other.set("only", "here"), "OK");
            Flow.same(r.exists("only"), 0L);
            Flow.same(other.dbsize(), 1L);
            other.flushdb();
        }
    }

    private static void strings() {
        try (var connection = client.connect()) {
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
        try (var connection = client.connect()) {
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
        try (var connection = client.connect()) {
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
        try (var connection = client.connect()) {
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
        try (var connection = client.connect()) {
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
        try (var connection = client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            for (long place : new long[] {1, 7, 100}) {
                Flow.same(r.setbit("bm", place, 1), 0L);
            }
            Flow.same(r.bitcount("bm"), 3L);
            Flow.same(r.bitpos("bm", true, 1), 100L);
            Flow.same(r.bitopNot("not bm", "bm"), 13L);
            Flow.same(r.bitfield("f", BitFieldArgs.Builder.overflow(BitFieldArgs.OverflowType.SAT)
                    .set(BitFieldArgs.unsigned(8), 0, 250).incrBy(BitFieldArgs.unsigned(8), 0, 10)), List.of(0L, 255L));
        }
    }

    private static void hyperloglog() {
        try (var connection = client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            Flow.same(r.pfadd("p1", IntStream.range(0, 1000).mapToObj(Integer::toString).toArray(String[]::new)), 1L);
            Flow.same(r.pfadd("p2", "one more"), 1L);
            Flow.same(r.pfmerge("p", "p1", "p2"), "OK");
            Flow.same(r.pfcount("p"), r.pfcount("p1", "p2"));
        }
    }

    private static void geo() {
        try (var connection = client.connect()) {
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
        try (var connection = client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            r.rpush("ids", "3", "1", "2");
            r.mset(Map.of("weight:1", "30", "weight:2", "20", "weight:3", "10"));
            Flow.same(r.sort("ids", SortArgs.Builder.by("weight:*").get("#")), List.of("3", "2", "1"));
            Flow.same(r.sortStore("ids", SortArgs.Builder.limit(0, 2), "sorted"), 2L);
        }
    }

    private static void administration() {
        try (var connection = client.connect()) {
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
        try (var connection = client.connect()) {
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
        try (var connection = client.connect(ByteArrayCodec.INSTANCE)) {
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
        try (var connection = client.connect(ByteArrayCodec.INSTANCE)) {
            RedisCommands<byte[], byte[]> r = connection.sync();
            Flow.same(r.set(key, large), "OK");
            Flow.same(r.get(key), large);
            Flow.same(r.rpush(list, large, large), 2L);
            Flow.same(r.lrange(list, 0, -1).toArray(), new Object[] {large, large});
            Flow.same(r.del(key, list), 2L);
        }
    }

    private static void pipelines() throws Exception {
        try (var connection = client.connect()) {
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
        try (var connection = client.connect()) {
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
        try (var connection = client.connect(); var second = client.connect()) {
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
        try (var connection = client.connect(); var second = client.connect()) {
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

    /** What a subscriber was told, as texts. */
    private static List<String> notes(StatefulRedisPubSubConnection<String, String> subscriber) {
        List<String> notes = Collections.synchronizedList(new ArrayList<>());
        subscriber.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String channel, String message) {
                notes.add(channel + ": " + message);
            }

            @Override
            public void message(String pattern, String channel, String message) {
                notes.add(pattern + " " + channel + ": " + message);
            }
        });
        return notes;
    }

    private static void pubSub() throws Exception {
        try (var connection = client.connect(); var subscriber = client.connectPubSub()) {
            RedisCommands<String, String> r = connection.sync();
            List<String> notes = notes(subscriber);
            subscriber.sync().subscribe("news", "other");
            Flow.same(r.publish("news", "hello"), 1L);
            Flow.eventually("the message", () -> notes.equals(List.of("news: hello")));
            Flow.same(new TreeSet<>(r.pubsubChannels()), new TreeSet<>(Set.of("news", "other")));
            Flow.same(r.pubsubNumsub("news", "nobody"), Map.of("news", 1L, "nobody", 0L));
            subscriber.sync().unsubscribe("news");
            Flow.same(r.publish("news", "lost"), 0L);
            notes.clear();
            List<String> wanted = new ArrayList<>();
            for (int number = 0; number < 1000; number++) {
                connection.async().publish("other", Integer.toString(number));
                wanted.add("other: " + number);
            }
            Flow.eventually("the last message", () -> notes.size() == 1000);
            Flow.same(notes, wanted);
            subscriber.sync().unsubscribe("other");
            Flow.same(r.pubsubNumsub("other"), Map.of("other", 0L));
        }
    }

    private static void pubSubPatterns() throws Exception {
        try (var connection = client.connect(); var subscriber = client.connectPubSub()) {
            RedisCommands<String, String> r = connection.sync();
            List<String> notes = notes(subscriber);
            subscriber.sync().psubscribe("n*", "?ews");
            Flow.same(r.publish("news", "twice"), 2L);
            Flow.eventually("both messages", () ->
                    new HashSet<>(notes).equals(Set.of("n* news: twice", "?ews news: twice")));
            Flow.same(r.pubsubNumpat(), 2L);
            subscriber.sync().punsubscribe("n*");
            Flow.same(r.publish("news", "once"), 1L);
            Flow.eventually("the message", () -> notes.contains("?ews news: once"));
        }
    }

    private static void blockingTimeout() {
        try (var connection = client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            long begin = System.nanoTime();
            Flow.same(r.blpop(0.1, "none", "no"), null);
            Flow.same(r.blmove("none", "no", LMoveArgs.Builder.leftRight(), 0.1), null);
            Flow.same(r.bzpopmin(0.1, "none"), null);
            Flow.same(r.blmpop(0.1, LMPopArgs.Builder.left(), "none"), null);
            Flow.same(System.nanoTime() - begin >= TimeUnit.MILLISECONDS.toNanos(390), true);
            r.rpush("full", "a");
            Flow.same(r.blpop(5, "none", "full"), KeyValue.just("full", "a"));
        }
    }

    private static void blockingWithProducer() throws Exception {
        try (var connection = client.connect(); var second = client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            RedisCommands<String, String> other = second.sync();
            Flow.later(() -> other.rpush("q", "job"));
            Flow.same(r.brpop(5, "empty", "q"), KeyValue.just("q", "job"));
            Flow.later(() -> other.lpush("q", "moved"));
            Flow.same(r.blmove("q", "done", LMoveArgs.Builder.rightLeft(), 5), "moved");
            Flow.later(() -> other.zadd("zq", ScoredValue.just(1, "low"), ScoredValue.just(2, "high")));
            Flow.same(r.bzpopmax(5, "zq"), KeyValue.just("zq", ScoredValue.just(2, "high")));
            List<StatefulRedisConnection<String, String>> workers = new ArrayList<>();
            List<RedisFuture<KeyValue<String, String>>> waiting = new ArrayList<>();
            for (int worker = 0; worker < 10; worker++) {
                workers.add(client.connect());
                waiting.add(workers.get(worker).async().blpop(5, "many"));
            }
            Set<String> taken = new TreeSet<>();
            for (int number = 0; number < 10; number++) {
                other.rpush("many", Integer.toString(number));
            }
            for (int worker = 0; worker < 10; worker++) {
                taken.add(waiting.get(worker).get(5, TimeUnit.SECONDS).getValue());
                workers.get(worker).close();
            }
            Flow.same(String.join("", taken), "0123456789");
        }
    }

    private static void streams() {
        try (var connection = client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            List<String> ids = IntStream.range(0, 10).mapToObj(number -> r.xadd("st", "n", "" + number)).toList();
            Flow.same(r.xlen("st"), 10L);
            StreamMessage<String, String> entry = new StreamMessage<>("st", ids.get(1), Map.of("n", "1"));
            Flow.same(r.xrange("st", Range.create(ids.get(1), ids.get(1))), List.of(entry));
            Flow.same(r.xrevrange("st", Range.create("-", ids.get(1)), Limit.from(1)), List.of(entry));
            Flow.same(r.xread(XReadArgs.StreamOffset.from("st", ids.get(7))).size(), 2);
            Flow.same(r.xtrim("st", 3), 7L);
            Flow.same(r.xinfoStream("st").contains(3L), true);
            Flow.fails("equal or smaller", () -> r.xadd("st", XAddArgs.Builder.maxlen(9).id("1-1"), "a", "1"));
        }
    }

    private static List<String> read(RedisCommands<String, String> who, String consumer, int count) {
        return who.xreadgroup(Consumer.from("group", consumer), XReadArgs.Builder.count(count).block(5000),
                XReadArgs.StreamOffset.lastConsumed("gs")).stream().map(StreamMessage::getId).toList();
    }

    private static void streamGroups() {
        try (var connection = client.connect(); var second = client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            RedisCommands<String, String> other = second.sync();
            XReadArgs.StreamOffset<String> end = XReadArgs.StreamOffset.from("gs", "$");
            Flow.same(r.xgroupCreate(end, "group", XGroupCreateArgs.Builder.mkstream()), "OK");
            Flow.fails("BUSYGROUP", () -> r.xgroupCreate(end, "group"));
            List<String> ids = IntStream.range(0, 4).mapToObj(number -> r.xadd("gs", "n", "" + number)).toList();
            Flow.same(read(r, "one", 3), ids.subList(0, 3));
            Flow.same(read(other, "two", 3), ids.subList(3, 4));
            Flow.same(r.xack("gs", "group", ids.get(0)), 1L);
            PendingMessages pending = r.xpending("gs", "group");
            Flow.same(pending.getCount(), 3L);
            Flow.same(pending.getMessageIds(), Range.create(ids.get(1), ids.get(3)));
            Flow.same(pending.getConsumerMessageCount(), Map.of("one", 2L, "two", 1L));
            Flow.same(r.xpending("gs", Consumer.from("group", "one"), Range.unbounded(), Limit.from(10)).stream()
                    .map(each -> each.getId()).toList(), ids.subList(1, 3));
            Flow.same(r.xclaim("gs", Consumer.from("group", "two"), 0, ids.get(1)),
                    List.of(new StreamMessage<>("gs", ids.get(1), Map.of("n", "1"))));
            ClaimedMessages<String, String> claimed = r.xautoclaim("gs",
                    XAutoClaimArgs.Builder.xautoclaim(Consumer.from("group", "two"), Duration.ZERO, "0").count(10));
            Flow.same(claimed.getId(), "0-0");
            Flow.same(claimed.getMessages().stream().map(StreamMessage::getId).toList(), ids.subList(1, 4));
            Flow.same(r.xack("gs", "group", ids.subList(0, 3).toArray(String[]::new)), 2L);
            Flow.same(r.xinfoGroups("gs").size(), 1);
            Flow.same(r.xinfoConsumers("gs", "group").size(), 2);
            Flow.same(r.xgroupDelconsumer("gs", Consumer.from("group", "two")), 1L);
            Flow.same(r.xgroupDestroy("gs", "group"), true);
        }
    }

    private static void blockingStreamReads() {
        try (var connection = client.connect(); var second = client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            RedisCommands<String, String> other = second.sync();
            XReadArgs.StreamOffset<String> end = XReadArgs.StreamOffset.latest("bs");
            Flow.same(r.xread(XReadArgs.Builder.block(50), end), List.of());
            Flow.later(() -> other.xadd("bs", XAddArgs.Builder.maxlen(9).id("1-1"), "n", "1"));
            Flow.same(r.xread(XReadArgs.Builder.block(5000), XReadArgs.StreamOffset.latest("none"), end),
                    List.of(new StreamMessage<>("bs", "1-1", Map.of("n", "1"))));
            r.xgroupCreate(end, "group");
            Flow.later(() -> other.xadd("bs", XAddArgs.Builder.maxlen(9).id("2-1"), "n", "2"));
            Flow.same(r.xreadgroup(Consumer.from("group", "one"), XReadArgs.Builder.block(5000),
                    XReadArgs.StreamOffset.lastConsumed("bs")),
                    List.of(new StreamMessage<>("bs", "2-1", Map.of("n", "2"))));
        }
    }

    private static void scanIterators() {
        try (var connection = client.connect()) {
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

    private static void reconnect() {
        RedisURI second = uri();
        second.setDatabase(2);
        try (var connection = client.connect(second); var killer = client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            long first = r.clientId();
            Flow.same(killer.sync().clientKill(KillArgs.Builder.id(first)), 1L);
            Flow.same(r.set("back", "again"), "OK");
            Flow.same(r.clientId() > first, true);
            Flow.same(r.dbsize(), 1L);
            r.flushdb();
        }
    }

    private static void reconnectOfSubscriber() throws Exception {
        try (var connection = client.connect(); var subscriber = client.connectPubSub()) {
            RedisCommands<String, String> r = connection.sync();
            List<String> notes = notes(subscriber);
            subscriber.sync().subscribe("lasting");
            subscriber.sync().psubscribe("last*");
            Flow.same(r.clientKill(KillArgs.Builder.typePubsub()), 1L);
            Flow.eventually("the new subscription", () -> r.publish("lasting", "still here") == 2);
            Flow.eventually("the message", () -> notes.contains("lasting: still here"));
        }
    }

    private static void clientSideCache() throws Exception {
        Map<String, String> near = new ConcurrentHashMap<>();
        try (var connection = client.connect(); var second = client.connect()) {
            RedisCommands<String, String> other = second.sync();
            CacheFrontend<String, String> cache = ClientSideCaching.enable(
                    CacheAccessor.forMap(near), connection, TrackingArgs.Builder.enabled());
            other.set("cached", "1");
            Flow.same(cache.get("cached"), "1");
            Flow.same(near, Map.of("cached", "1"));
            other.set("cached", "2");
            Flow.eventually("the invalidation", () -> near.isEmpty());
            Flow.same(cache.get("cached"), "2");
            other.del("cached");
            Flow.eventually("the invalidation by DEL", () -> cache.get("cached") == null);
        }
    }
}
