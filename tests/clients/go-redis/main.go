// go-redis' own flows: go-redis PORT PROTOCOL.
package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

var port, protocol int

func main() {
	if len(os.Args) != 3 {
		usage()
	}
	port, _ = strconv.Atoi(os.Args[1])
	protocol, _ = strconv.Atoi(os.Args[2])
	flows := []flow{
		{"connect", connect}, {"strings", stringValues}, {"hashes", hashes}, {"lists", lists}, {"sets", sets},
		{"sorted sets", sortedSets}, {"bits", bits}, {"hyperloglog", hyperloglog}, {"geo", geo},
		{"sort", sortValues}, {"expiry", expiry}, {"administration", administration}, {"binary values", binaryValues},
		{"large values", largeValues}, {"pipelines", pipelines}, {"transactions", transactions},
		{"aborted transaction", abortedTransaction}, {"lock without scripts", lockWithoutScripts},
		{"pub sub", pubSub}, {"pub sub patterns", pubSubPatterns}, {"blocking timeout", blockingTimeout},
		{"blocking with producer", blockingWithProducer}, {"streams", streams}, {"stream groups", streamGroups},
		{"blocking stream reads", blockingStreamReads},
		{"scan iterators", scanIterators}, {"reconnect", reconnect},
		{"reconnect of a subscriber", reconnectOfSubscriber},
	}
	if !runAll(flows) {
		os.Exit(1)
	}
}

func client(change ...func(*redis.Options)) *redis.Client {
	// A request that is sent again, since the machine was paused, would count twice.
	const patience = 20 * time.Second
	options := &redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", port), Protocol: protocol,
		DialTimeout: patience, ReadTimeout: patience, WriteTimeout: patience}
	for _, each := range change {
		each(options)
	}
	return redis.NewClient(options)
}

// later makes a call once the caller most likely waits for its outcome.
func later(call func()) {
	time.AfterFunc(100*time.Millisecond, call)
}

func connect(ctx context.Context) {
	r := client(func(options *redis.Options) { options.ClientName = "flows" })
	defer r.Close()
	other := client(func(options *redis.Options) { options.DB = 1 })
	defer other.Close()
	same(must(r.Ping(ctx).Result()), "PONG")
	same(must(r.Echo(ctx, "hello").Result()), "hello")
	same(must(r.ClientGetName(ctx).Result()), "flows")
	info := must(r.ClientInfo(ctx).Result())
	same(info.Name, "flows")
	same(info.Resp, protocol)
	fine(other.Set(ctx, "only", "here", 0).Err())
	same(must(r.Exists(ctx, "only").Result()), int64(0))
	same(must(other.DBSize(ctx).Result()), int64(1))
	fine(other.FlushDB(ctx).Err())
}

func stringValues(ctx context.Context) {
	r := client()
	defer r.Close()
	same(must(r.SetNX(ctx, "s", "1", 0).Result()), true)
	same(must(r.SetNX(ctx, "s", "2", 0).Result()), false)
	same(must(r.SetArgs(ctx, "s", "2", redis.SetArgs{Get: true}).Result()), "1")
	same(must(r.IncrBy(ctx, "s", 40).Result()), int64(42))
	same(must(r.IncrByFloat(ctx, "s", 0.5).Result()), 42.5)
	same(must(r.Append(ctx, "s", "0").Result()), int64(5))
	same(must(r.GetRange(ctx, "s", 0, 1).Result()), "42")
	same(must(r.MSet(ctx, "a", 1, "b", 2).Result()), "OK")
	same(must(r.MGet(ctx, "a", "nothing", "b").Result()), []any{"1", nil, "2"})
	same(must(r.GetDel(ctx, "a").Result()), "1")
	fails(r.Get(ctx, "a").Err(), redis.Nil)
	failsWith(r.LPush(ctx, "s", "x").Err(), "wrong kind of value")
}

func hashes(ctx context.Context) {
	r := client()
	defer r.Close()
	same(must(r.HSet(ctx, "h", "f", 1, "g", 2).Result()), int64(2))
	same(must(r.HGetAll(ctx, "h").Result()), map[string]string{"f": "1", "g": "2"})
	same(must(r.HIncrBy(ctx, "h", "f", 9).Result()), int64(10))
	same(must(r.HMGet(ctx, "h", "f", "none").Result()), []any{"10", nil})
	same(must(r.HSetNX(ctx, "h", "f", 0).Result()), false)
	var typed struct {
		F int `redis:"f"`
		G int `redis:"g"`
	}
	fine(r.HGetAll(ctx, "h").Scan(&typed))
	same([]int{typed.F, typed.G}, []int{10, 2})
	same(must(r.HDel(ctx, "h", "f", "none").Result()), int64(1))
	same(must(r.HLen(ctx, "h").Result()), int64(1))
}

func lists(ctx context.Context) {
	r := client()
	defer r.Close()
	same(must(r.RPush(ctx, "l", "a", "b", "c", "d").Result()), int64(4))
	same(must(r.LPopCount(ctx, "l", 2).Result()), []string{"a", "b"})
	same(must(r.LInsertBefore(ctx, "l", "d", "x").Result()), int64(3))
	same(must(r.LPos(ctx, "l", "x", redis.LPosArgs{}).Result()), int64(1))
	same(must(r.LMove(ctx, "l", "m", "RIGHT", "LEFT").Result()), "d")
	key, popped, err := r.LMPop(ctx, "LEFT", 9, "none", "l").Result()
	fine(err)
	same([]any{key, popped}, []any{"l", []string{"c", "x"}})
	fails(r.LPop(ctx, "l").Err(), redis.Nil)
}

func sets(ctx context.Context) {
	r := client()
	defer r.Close()
	same(must(r.SAdd(ctx, "s1", "a", "b", "c").Result()), int64(3))
	same(must(r.SAdd(ctx, "s2", "b", "c", "d").Result()), int64(3))
	both := must(r.SInter(ctx, "s1", "s2").Result())
	sort.Strings(both)
	same(both, []string{"b", "c"})
	same(must(r.SInterCard(ctx, 0, "s1", "s2").Result()), int64(2))
	same(must(r.SDiff(ctx, "s1", "s2").Result()), []string{"a"})
	same(must(r.SMIsMember(ctx, "s1", "a", "z").Result()), []bool{true, false})
	same(must(r.SMembersMap(ctx, "s1").Result()), map[string]struct{}{"a": {}, "b": {}, "c": {}})
	same(len(must(r.SPopN(ctx, "s1", 9).Result())), 3)
}

func sortedSets(ctx context.Context) {
	r := client()
	defer r.Close()
	same(must(r.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "a"}, redis.Z{Score: 2.5, Member: "b"},
		redis.Z{Score: math.Inf(1), Member: "c"}).Result()), int64(3))
	same(must(r.ZRangeWithScores(ctx, "z", 0, -1).Result()),
		[]redis.Z{{Score: 1, Member: "a"}, {Score: 2.5, Member: "b"}, {Score: math.Inf(1), Member: "c"}})
	same(must(r.ZIncrBy(ctx, "z", 2, "a").Result()), 3.0)
	same(must(r.ZRangeArgs(ctx, redis.ZRangeArgs{Key: "z", Start: "(2.5", Stop: "+inf", ByScore: true}).Result()),
		[]string{"a", "c"})
	ranked := must(r.ZRank(ctx, "z", "a").Result())
	same(ranked, int64(1))
	same(must(r.ZAddArgs(ctx, "z", redis.ZAddArgs{GT: true, Ch: true, Members: []redis.Z{{Score: 1, Member: "b"}}}).
		Result()), int64(0))
	same(must(r.ZPopMin(ctx, "z", 2).Result()), []redis.Z{{Score: 2.5, Member: "b"}, {Score: 3, Member: "a"}})
	same(must(r.ZUnionWithScores(ctx, redis.ZStore{Keys: []string{"z", "z"}, Aggregate: "MIN"}).Result()),
		[]redis.Z{{Score: math.Inf(1), Member: "c"}})
}

func bits(ctx context.Context) {
	r := client()
	defer r.Close()
	for _, place := range []int64{1, 7, 100} {
		same(must(r.SetBit(ctx, "bm", place, 1).Result()), int64(0))
	}
	same(must(r.BitCount(ctx, "bm", nil).Result()), int64(3))
	same(must(r.BitCount(ctx, "bm", &redis.BitCount{Start: 0, End: 7, Unit: "BIT"}).Result()), int64(2))
	same(must(r.BitPos(ctx, "bm", 1, 1).Result()), int64(100))
	same(must(r.BitOpNot(ctx, "not bm", "bm").Result()), int64(13))
	same(must(r.BitField(ctx, "f", "OVERFLOW", "SAT", "SET", "u8", "#0", 250, "INCRBY", "u8", "#0", 10).Result()),
		[]int64{0, 255})
}

func hyperloglog(ctx context.Context) {
	r := client()
	defer r.Close()
	for number := 0; number < 1500; number++ {
		fine(r.PFAdd(ctx, fmt.Sprintf("p%d", number%2), number).Err())
	}
	fine(r.PFMerge(ctx, "p", "p0", "p1").Err())
	merged := must(r.PFCount(ctx, "p").Result())
	same(merged, must(r.PFCount(ctx, "p0", "p1").Result()))
	same(1450 < merged && merged < 1550, true)
}

func geo(ctx context.Context) {
	r := client()
	defer r.Close()
	same(must(r.GeoAdd(ctx, "g", &redis.GeoLocation{Name: "Palermo", Longitude: 13.361389, Latitude: 38.115556},
		&redis.GeoLocation{Name: "Catania", Longitude: 15.087269, Latitude: 37.502669}).Result()), int64(2))
	same(math.Round(must(r.GeoDist(ctx, "g", "Palermo", "Catania", "km").Result())), 166.0)
	same(must(r.GeoHash(ctx, "g", "Palermo").Result()), []string{"sqc8b49rny0"})
	same(math.Round(must(r.GeoPos(ctx, "g", "Catania").Result())[0].Longitude), 15.0)
	found := must(r.GeoSearchLocation(ctx, "g", &redis.GeoSearchLocationQuery{
		GeoSearchQuery: redis.GeoSearchQuery{Longitude: 15, Latitude: 37, Radius: 200, RadiusUnit: "km", Sort: "ASC"},
		WithCoord:      true, WithDist: true, WithHash: true}).Result())
	same([]string{found[0].Name, found[1].Name}, []string{"Catania", "Palermo"})
	same([]any{math.Round(found[0].Dist), found[0].GeoHash}, []any{56.0, int64(3479447370796909)})
}

func sortValues(ctx context.Context) {
	r := client()
	defer r.Close()
	fine(r.RPush(ctx, "ids", 3, 1, 2).Err())
	fine(r.MSet(ctx, "weight:1", 30, "weight:2", 20, "weight:3", 10).Err())
	same(must(r.Sort(ctx, "ids", &redis.Sort{}).Result()), []string{"1", "2", "3"})
	same(must(r.Sort(ctx, "ids", &redis.Sort{By: "weight:*", Get: []string{"weight:*"}, Order: "DESC"}).Result()),
		[]string{"30", "20", "10"})
	same(must(r.SortStore(ctx, "ids", "sorted", &redis.Sort{Count: 2}).Result()), int64(2))
}

func administration(ctx context.Context) {
	r := client()
	defer r.Close()
	same(len(must(r.Info(ctx).Result())) > 1000, true)
	same(must(r.ConfigSet(ctx, "slowlog-log-slower-than", "0").Result()), "OK")
	same(must(r.ConfigGet(ctx, "slowlog-log-slower-than").Result()), map[string]string{"slowlog-log-slower-than": "0"})
	fine(r.Set(ctx, "a", 1, 0).Err())
	slow := must(r.SlowLogGet(ctx, 10).Result())
	same(slow[0].Args, []string{"set", "a", "1"})
	fine(r.ConfigSet(ctx, "slowlog-log-slower-than", "10000").Err())
	same(must(r.ObjectEncoding(ctx, "a").Result()), "int")
	same(must(r.MemoryUsage(ctx, "a").Result()) > 0, true)
	same(len(must(r.Command(ctx).Result())) > 150, true)
	same(must(r.CommandGetKeys(ctx, "MSET", "x", 1, "y", 2).Result()), []string{"x", "y"})
	same(time.Since(must(r.Time(ctx).Result())) < time.Minute, true)
	payload := must(r.Dump(ctx, "a").Result())
	same(must(r.Restore(ctx, "a2", time.Minute, payload).Result()), "OK")
	same(must(r.Get(ctx, "a2").Result()), "1")
}

func expiry(ctx context.Context) {
	r := client()
	defer r.Close()
	same(must(r.Set(ctx, "e", "v", 60*time.Millisecond).Result()), "OK")
	eventually(ctx, "the expiry", func() bool { return r.Get(ctx, "e").Err() == redis.Nil })
	same(must(r.TTL(ctx, "e").Result()), time.Duration(-2))
	same(must(r.Set(ctx, "e", "v", time.Hour).Result()), "OK")
	same(must(r.ExpireLT(ctx, "e", 2*time.Hour).Result()), false)
	same(must(r.Set(ctx, "e", "w", redis.KeepTTL).Result()), "OK")
	same(must(r.Persist(ctx, "e").Result()), true)
}

func binaryValues(ctx context.Context) {
	r := client()
	defer r.Close()
	var all []byte
	for code := 0; code < 1024; code++ {
		all = append(all, byte(code))
	}
	all = append(all, "\r\n$3\r\n\x00"...)
	fine(r.Set(ctx, string(all), all, 0).Err())
	same(must(r.Get(ctx, string(all)).Bytes()), all)
	fine(r.HSet(ctx, "bh", all, all).Err())
	same(must(r.HGetAll(ctx, "bh").Result()), map[string]string{string(all): string(all)})
}

func largeValues(ctx context.Context) {
	r := client()
	defer r.Close()
	large := bytes.Repeat([]byte("0123456789"), 500_000)
	fine(r.Set(ctx, "large", large, 0).Err())
	same(bytes.Equal(must(r.Get(ctx, "large").Bytes()), large), true)
	same(must(r.SetRange(ctx, "large", 2_500_000, "xyz").Result()), int64(len(large)))
	same(must(r.GetRange(ctx, "large", 2_499_999, 2_500_003).Result()), "9xyz3")
	fine(r.HSet(ctx, "large hash", "f", large).Err())
	same(bytes.Equal(must(r.HGet(ctx, "large hash", "f").Bytes()), large), true)
	fine(r.Del(ctx, "large", "large hash").Err())
}

func pipelines(ctx context.Context) {
	r := client()
	defer r.Close()
	replies, err := r.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for number := 0; number < 1000; number++ {
			pipe.Set(ctx, fmt.Sprintf("p:%d", number), number, 0)
			pipe.Incr(ctx, fmt.Sprintf("p:%d", number))
		}
		return nil
	})
	fine(err)
	for index, reply := range replies {
		if index%2 == 1 {
			same(reply.(*redis.IntCmd).Val(), int64(index/2+1))
		}
	}
	pipe := r.Pipeline()
	pipe.Set(ctx, "p:x", "text", 0)
	middle := pipe.Incr(ctx, "p:x")
	last := pipe.Get(ctx, "p:x")
	_, err = pipe.Exec(ctx)
	failsWith(err, "not an integer")
	failsWith(middle.Err(), "not an integer")
	same(must(last.Result()), "text")
}

func transactions(ctx context.Context) {
	r := client()
	defer r.Close()
	var counted *redis.IntCmd
	_, err := r.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "t", 1, 0)
		counted = pipe.Incr(ctx, "t")
		return nil
	})
	fine(err)
	same(counted.Val(), int64(2))
	fine(r.Watch(ctx, func(tx *redis.Tx) error {
		value := must(tx.Get(ctx, "t").Int())
		_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "t", value*2, 0)
			return nil
		})
		return err
	}, "t"))
	same(must(r.Get(ctx, "t").Int()), 4)
}

func abortedTransaction(ctx context.Context) {
	r := client()
	defer r.Close()
	fails(r.Watch(ctx, func(tx *redis.Tx) error {
		fine(r.Set(ctx, "w", "changed", 0).Err())
		_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "w", "mine", 0)
			return nil
		})
		return err
	}, "w"), redis.TxFailedErr)
	same(must(r.Get(ctx, "w").Result()), "changed")
	_, err := r.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "w", "not written", 0)
		pipe.Do(ctx, "GET")
		return nil
	})
	failsWith(err, "EXECABORT")
	same(must(r.Get(ctx, "w").Result()), "changed")
}

// SET NX PX takes it; WATCH gives it back only if it is still one's own.
func lockWithoutScripts(ctx context.Context) {
	r := client()
	defer r.Close()
	release := func(token string) bool {
		released := false
		fine(r.Watch(ctx, func(tx *redis.Tx) error {
			if must(tx.Get(ctx, "lock").Result()) != token {
				return nil
			}
			_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Del(ctx, "lock")
				return nil
			})
			released = err == nil
			return err
		}, "lock"))
		return released
	}
	same(must(r.SetNX(ctx, "lock", "one", 10*time.Second).Result()), true)
	same(must(r.SetNX(ctx, "lock", "two", 10*time.Second).Result()), false)
	same(release("two"), false)
	same(release("one"), true)
	same(must(r.SetNX(ctx, "lock", "two", 10*time.Second).Result()), true)
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: go-redis PORT PROTOCOL")
	os.Exit(2)
}
