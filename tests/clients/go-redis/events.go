// The flows in which one connection waits for another: pub/sub, blocking commands, streams, reconnects.
package main

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

func received(ctx context.Context, subscriber *redis.PubSub) any {
	switch message := must(subscriber.ReceiveTimeout(ctx, 5*time.Second)).(type) {
	case *redis.Subscription:
		return fmt.Sprintf("%s %s %d", message.Kind, message.Channel, message.Count)
	case *redis.Message:
		return fmt.Sprintf("%s|%s: %s", message.Pattern, message.Channel, message.Payload)
	default:
		return fmt.Sprint(message)
	}
}

func pubSub(ctx context.Context) {
	r := client()
	defer r.Close()
	subscriber := r.Subscribe(ctx, "news", "other")
	defer subscriber.Close()
	same(received(ctx, subscriber), "subscribe news 1")
	same(received(ctx, subscriber), "subscribe other 2")
	same(must(r.Publish(ctx, "news", "hello").Result()), int64(1))
	same(must(r.Publish(ctx, "nobody", "hello").Result()), int64(0))
	same(received(ctx, subscriber), "|news: hello")
	channels := must(r.PubSubChannels(ctx, "*").Result())
	sort.Strings(channels)
	same(channels, []string{"news", "other"})
	same(must(r.PubSubNumSub(ctx, "news", "nobody").Result()), map[string]int64{"news": 1, "nobody": 0})
	fine(subscriber.Ping(ctx, "alive"))
	same(received(ctx, subscriber), "Pong<alive>")
	fine(subscriber.Unsubscribe(ctx, "news"))
	same(received(ctx, subscriber), "unsubscribe news 1")
	same(must(r.Publish(ctx, "news", "lost").Result()), int64(0))
	same(must(r.Publish(ctx, "other", "seen").Result()), int64(1))
	same(received(ctx, subscriber), "|other: seen")

	// go-redis' own goroutine hands a thousand messages to a channel while this one sends them.
	many := r.Subscribe(ctx, "many")
	defer many.Close()
	received(ctx, many)
	arrivals := many.Channel(redis.WithChannelSize(1000))
	_, err := r.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for number := 0; number < 1000; number++ {
			pipe.Publish(ctx, "many", number)
		}
		return nil
	})
	fine(err)
	for number := 0; number < 1000; number++ {
		select {
		case message := <-arrivals:
			same(message.Payload, fmt.Sprint(number))
		case <-ctx.Done():
			panic(wrong{fmt.Sprintf("message %d did not come", number)})
		}
	}
}

func pubSubPatterns(ctx context.Context) {
	r := client()
	defer r.Close()
	subscriber := r.PSubscribe(ctx, "n*", "?ews")
	defer subscriber.Close()
	same(received(ctx, subscriber), "psubscribe n* 1")
	same(received(ctx, subscriber), "psubscribe ?ews 2")
	same(must(r.Publish(ctx, "news", "twice").Result()), int64(2))
	both := []string{received(ctx, subscriber).(string), received(ctx, subscriber).(string)}
	sort.Strings(both)
	same(both, []string{"?ews|news: twice", "n*|news: twice"})
	same(must(r.PubSubNumPat(ctx).Result()), int64(2))
	fine(subscriber.PUnsubscribe(ctx, "n*"))
	same(received(ctx, subscriber), "punsubscribe n* 1")
	same(must(r.Publish(ctx, "news", "once").Result()), int64(1))
	same(received(ctx, subscriber), "?ews|news: once")
}

func blockingTimeout(ctx context.Context) {
	r := client()
	defer r.Close()
	begin := time.Now()
	// go-redis waits for whole seconds, so all at once.
	calls := []func() error{
		func() error { return r.BLPop(ctx, time.Second, "none", "no").Err() },
		func() error { return r.BLMove(ctx, "none", "no", "LEFT", "RIGHT", time.Second).Err() },
		func() error { return r.BZPopMin(ctx, time.Second, "none").Err() },
		func() error { return r.BLMPop(ctx, time.Second, "LEFT", 1, "none").Err() },
	}
	outcomes := make(chan error)
	for _, call := range calls {
		call := call
		go func() { outcomes <- call() }()
	}
	for range calls {
		fails(<-outcomes, redis.Nil)
	}
	same(time.Since(begin) > 990*time.Millisecond, true)
	fine(r.RPush(ctx, "full", "a").Err())
	same(must(r.BLPop(ctx, time.Second, "none", "full").Result()), []string{"full", "a"})
}

func blockingWithProducer(ctx context.Context) {
	r := client()
	defer r.Close()
	later(func() { r.RPush(ctx, "q", "job") })
	same(must(r.BRPop(ctx, 5*time.Second, "empty", "q").Result()), []string{"q", "job"})
	later(func() { r.LPush(ctx, "q", "moved") })
	same(must(r.BLMove(ctx, "q", "done", "RIGHT", "LEFT", 5*time.Second).Result()), "moved")
	later(func() { r.ZAdd(ctx, "zq", redis.Z{Score: 1, Member: "low"}, redis.Z{Score: 2, Member: "high"}) })
	same(*must(r.BZPopMax(ctx, 5*time.Second, "zq").Result()),
		redis.ZWithKey{Key: "zq", Z: redis.Z{Score: 2, Member: "high"}})
	later(func() { r.ZAdd(ctx, "zq2", redis.Z{Score: 1, Member: "low"}, redis.Z{Score: 2, Member: "high"}) })
	key, popped, err := r.BZMPop(ctx, 5*time.Second, "MIN", 9, "none", "zq2").Result()
	fine(err)
	same([]any{key, popped}, []any{"zq2", []redis.Z{{Score: 1, Member: "low"}, {Score: 2, Member: "high"}}})

	var workers sync.WaitGroup
	taken := make(chan string, 10)
	for worker := 0; worker < 10; worker++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			found, err := r.BLPop(ctx, 5*time.Second, "many").Result()
			if err == nil {
				taken <- found[1]
			}
		}()
	}
	for number := 0; number < 10; number++ {
		fine(r.RPush(ctx, "many", number).Err())
	}
	workers.Wait()
	close(taken)
	seen := ""
	for each := range taken {
		seen += each
	}
	sorted := []byte(seen)
	sort.Slice(sorted, func(one, other int) bool { return sorted[one] < sorted[other] })
	same(string(sorted), "0123456789")
}

func streams(ctx context.Context) {
	r := client()
	defer r.Close()
	var ids []string
	for number := 0; number < 10; number++ {
		ids = append(ids, must(r.XAdd(ctx, &redis.XAddArgs{Stream: "st", Values: []any{"n", number}}).Result()))
	}
	same(must(r.XLen(ctx, "st").Result()), int64(10))
	second := redis.XMessage{ID: ids[1], Values: map[string]any{"n": "1"}}
	same(must(r.XRange(ctx, "st", ids[1], ids[1]).Result()), []redis.XMessage{second})
	same(must(r.XRevRangeN(ctx, "st", ids[1], "-", 1).Result()), []redis.XMessage{second})
	same(len(must(r.XRead(ctx, &redis.XReadArgs{Streams: []string{"st", ids[1]}}).Result())[0].Messages), 8)
	same(must(r.XTrimMaxLen(ctx, "st", 3).Result()), int64(7))
	same(must(r.XInfoStream(ctx, "st").Result()).LastGeneratedID, ids[9])
	same(must(r.XInfoStreamFull(ctx, "st", 10).Result()).Length, int64(3))
	failsWith(r.XAdd(ctx, &redis.XAddArgs{Stream: "st", ID: "1-1", Values: []any{"a", 1}}).Err(), "equal or smaller")
}

func streamGroups(ctx context.Context) {
	r := client()
	defer r.Close()
	fine(r.XGroupCreateMkStream(ctx, "gs", "group", "$").Err())
	failsWith(r.XGroupCreate(ctx, "gs", "group", "$").Err(), "BUSYGROUP")
	var ids []string
	for number := 0; number < 4; number++ {
		ids = append(ids, must(r.XAdd(ctx, &redis.XAddArgs{Stream: "gs", Values: []any{"n", number}}).Result()))
	}
	read := func(consumer string, count int64) []redis.XMessage {
		return must(r.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "group", Consumer: consumer,
			Streams: []string{"gs", ">"}, Count: count, Block: 5 * time.Second}).Result())[0].Messages
	}
	same(len(read("one", 3)), 3)
	same(read("two", 3)[0].ID, ids[3])
	same(must(r.XAck(ctx, "gs", "group", ids[0]).Result()), int64(1))
	pending := must(r.XPending(ctx, "gs", "group").Result())
	same(*pending, redis.XPending{Count: 3, Lower: ids[1], Higher: ids[3],
		Consumers: map[string]int64{"one": 2, "two": 1}})
	mine := must(r.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: "gs", Group: "group", Start: "-", End: "+",
		Count: 10, Consumer: "one"}).Result())
	same([]any{len(mine), mine[0].ID, mine[0].RetryCount}, []any{2, ids[1], int64(1)})
	claimed := must(r.XClaim(ctx, &redis.XClaimArgs{Stream: "gs", Group: "group", Consumer: "two",
		Messages: ids[1:2]}).Result())
	same(claimed, []redis.XMessage{{ID: ids[1], Values: map[string]any{"n": "1"}}})
	all, next, err := r.XAutoClaim(ctx, &redis.XAutoClaimArgs{Stream: "gs", Group: "group", Consumer: "two",
		Start: "0", Count: 10}).Result()
	fine(err)
	same([]any{len(all), next}, []any{3, "0-0"})
	same(must(r.XAck(ctx, "gs", "group", ids[:3]...).Result()), int64(2))
	groups := must(r.XInfoGroups(ctx, "gs").Result())
	same([]any{len(groups), groups[0].Consumers, groups[0].Pending}, []any{1, int64(2), int64(1)})
	same(len(must(r.XInfoConsumers(ctx, "gs", "group").Result())), 2)
	same(must(r.XGroupDelConsumer(ctx, "gs", "group", "two").Result()), int64(1))
	same(must(r.XGroupDestroy(ctx, "gs", "group").Result()), int64(1))
}

func blockingStreamReads(ctx context.Context) {
	r := client()
	defer r.Close()
	add := func(id string) func() {
		return func() { r.XAdd(ctx, &redis.XAddArgs{Stream: "bs", ID: id, Values: []any{"id", id}}) }
	}
	added := func(id string) []redis.XStream {
		return []redis.XStream{{Stream: "bs", Messages: []redis.XMessage{{ID: id, Values: map[string]any{"id": id}}}}}
	}
	fails(r.XRead(ctx, &redis.XReadArgs{Streams: []string{"bs", "$"}, Block: 50 * time.Millisecond}).Err(), redis.Nil)
	later(add("1-1"))
	same(must(r.XRead(ctx, &redis.XReadArgs{Streams: []string{"none", "bs", "$", "$"}, Block: 5 * time.Second}).
		Result()), added("1-1"))
	fine(r.XGroupCreate(ctx, "bs", "group", "$").Err())
	later(add("2-1"))
	same(must(r.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "group", Consumer: "one", Streams: []string{"bs", ">"},
		Block: 5 * time.Second}).Result()), added("2-1"))
}

func scanIterators(ctx context.Context) {
	r := client()
	defer r.Close()
	var names []string
	var fields []any
	for number := 0; number < 1000; number++ {
		names = append(names, fmt.Sprintf("scan:%03d", number))
		fields = append(fields, names[number], "1")
	}
	fine(r.MSet(ctx, fields...).Err())
	fine(r.HSet(ctx, "scanned hash", fields...).Err())
	scanned := func(iterator *redis.ScanIterator, step int) []string {
		seen := map[string]bool{}
		for index := 0; iterator.Next(ctx); index++ {
			if index%step == 0 {
				seen[iterator.Val()] = true
			}
		}
		fine(iterator.Err())
		var found []string
		for name := range seen {
			found = append(found, name)
		}
		sort.Strings(found)
		return found
	}
	same(scanned(r.Scan(ctx, 0, "scan:*", 50).Iterator(), 1), names)
	same(scanned(r.ScanType(ctx, 0, "scan:*", 50, "hash").Iterator(), 1), []string(nil))
	same(scanned(r.HScan(ctx, "scanned hash", 0, "scan:*", 50).Iterator(), 2), names)
	same(must(r.Unlink(ctx, names...).Result()), int64(1000))
}

func reconnect(ctx context.Context) {
	r := client(func(options *redis.Options) { options.PoolSize = 1 })
	defer r.Close()
	other := client()
	defer other.Close()
	first := must(r.ClientID(ctx).Result())
	same(must(other.ClientKillByFilter(ctx, "ID", fmt.Sprint(first)).Result()), int64(1))
	fine(r.Set(ctx, "back", "again", 0).Err())
	same(must(r.ClientID(ctx).Result()) > first, true)
}

func reconnectOfSubscriber(ctx context.Context) {
	r := client()
	defer r.Close()
	subscriber := r.Subscribe(ctx, "lasting")
	defer subscriber.Close()
	received(ctx, subscriber)
	arrivals := subscriber.Channel()
	same(must(r.ClientKillByFilter(ctx, "TYPE", "pubsub").Result()), int64(1))
	eventually(ctx, "the new subscription", func() bool {
		return must(r.Publish(ctx, "lasting", "still here").Result()) == 1
	})
	select {
	case message := <-arrivals:
		same(message.Payload, "still here")
	case <-ctx.Done():
		panic(wrong{"the message did not come"})
	}
}
