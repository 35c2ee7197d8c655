import io.lettuce.core.*;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.models.stream.ClaimedMessages;
import io.lettuce.core.models.stream.PendingMessages;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.CacheFrontend;
import io.lettuce.core.support.caching.ClientSideCaching;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** The flows in which one connection waits for another: pub/sub, blocking commands, streams, reconnects. */
@SuppressWarnings("unchecked") // Arrays of ScoredValue<String>, made for calls with any number of them.
final class Events {
    private Events() {}

    static void addTo(Map<String, Flow> flows) {
        flows.put("pub sub", Events::pubSub);
        flows.put("pub sub patterns", Events::pubSubPatterns);
        flows.put("blocking timeout", Events::blockingTimeout);
        flows.put("blocking with producer", Events::blockingWithProducer);
        flows.put("streams", Events::streams);
        flows.put("stream groups", Events::streamGroups);
        flows.put("blocking stream reads", Events::blockingStreamReads);
        flows.put("reconnect", Events::reconnect);
        flows.put("reconnect of a subscriber", Events::reconnectOfSubscriber);
        if (Flows.protocol == 3) {
            flows.put("client side cache", Events::clientSideCache);
        }
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
        try (var connection = Flows.client.connect(); var subscriber = Flows.client.connectPubSub()) {
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
        try (var connection = Flows.client.connect(); var subscriber = Flows.client.connectPubSub()) {
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
        try (var connection = Flows.client.connect()) {
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
        try (var connection = Flows.client.connect(); var second = Flows.client.connect()) {
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
                workers.add(Flows.client.connect());
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
        try (var connection = Flows.client.connect()) {
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
        try (var connection = Flows.client.connect(); var second = Flows.client.connect()) {
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
        try (var connection = Flows.client.connect(); var second = Flows.client.connect()) {
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

    private static void reconnect() throws Exception {
        RedisURI second = Flows.uri();
        second.setDatabase(2);
        try (var connection = Flows.client.connect(second); var killer = Flows.client.connect()) {
            RedisCommands<String, String> r = connection.sync();
            long first = r.clientId();
            Flow.same(killer.sync().clientKill(KillArgs.Builder.id(first)), 1L);
            // What is written between the end and its notice is lost, as with Redis.
            Flow.eventually("the new connection", () -> killer.sync().clientList().lines()
                    .anyMatch(each -> each.contains(" db=2 ") && !each.startsWith("id=" + first + " ")));
            Flow.same(r.set("back", "again"), "OK");
            Flow.same(r.clientId() > first, true);
            Flow.same(r.dbsize(), 1L);
            r.flushdb();
        }
    }

    private static void reconnectOfSubscriber() throws Exception {
        try (var connection = Flows.client.connect(); var subscriber = Flows.client.connectPubSub()) {
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
        try (var connection = Flows.client.connect(); var second = Flows.client.connect()) {
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
