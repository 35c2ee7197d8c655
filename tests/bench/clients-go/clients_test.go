// Package clients measures Go's clients of Redis as Greddis' published benchmark does: one goroutine, one key, GET and SET of
// 1 kB to 10 MB, a pool of ten connections. CLIENTS_SERVER is the server's address. tests/bench/clients_go.py runs it.
//
// Greddis itself (github.com/mikn/greddis) is not among them: the module proxy does not serve it.
package clients

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
)

const key = "testkey"

var sizes = []int{3, 1_000, 10_000, 100_000, 10_000_000}

func address() string {
	if server := os.Getenv("CLIENTS_SERVER"); server != "" {
		return server
	}
	return "127.0.0.1:6379"
}

// client is a library of which one goroutine asks. A value that came is its natural type of bytes.
type client interface {
	get(key string) (int, error)
	set(key, value string) error
	close() error
}

type goRedis struct {
	client  *goredis.Client
	context context.Context
}

func newGoRedis() client {
	return goRedis{goredis.NewClient(&goredis.Options{Addr: address(), PoolSize: 10}), context.Background()}
}

func (c goRedis) get(key string) (int, error) {
	value, err := c.client.Get(c.context, key).Bytes()
	return len(value), err
}

func (c goRedis) set(key, value string) error { return c.client.Set(c.context, key, value, 0).Err() }
func (c goRedis) close() error                { return c.client.Close() }

type redigo struct{ pool *redis.Pool }

func newRedigo() client {
	return redigo{&redis.Pool{MaxIdle: 10, MaxActive: 10, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", address())
	}}}
}

func (c redigo) get(key string) (int, error) {
	connection := c.pool.Get()
	defer connection.Close()
	value, err := redis.Bytes(connection.Do("GET", key))
	return len(value), err
}

func (c redigo) set(key, value string) error {
	connection := c.pool.Get()
	defer connection.Close()
	_, err := connection.Do("SET", key, value)
	return err
}

func (c redigo) close() error { return c.pool.Close() }

func BenchmarkClients(b *testing.B) {
	for _, library := range []struct {
		name string
		make func() client
	}{{"go-redis", newGoRedis}, {"redigo", newRedigo}} {
		for _, size := range sizes {
			value := strings.Repeat("x", size)
			b.Run(fmt.Sprintf("get/%s/%d", library.name, size), func(b *testing.B) {
				client := library.make()
				defer client.close()
				if err := client.set(key, value); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if length, err := client.get(key); err != nil || length != size {
						b.Fatal(length, err)
					}
				}
			})
			b.Run(fmt.Sprintf("set/%s/%d", library.name, size), func(b *testing.B) {
				client := library.make()
				defer client.close()
				// The first opens the connection.
				if err := client.set(key, value); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := client.set(key, value); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
