module edgecask.test/clients

go 1.18

// The versions from 9.15 on lose pub/sub messages under RESP3 where one is cut by the end of a read (mended later, for Go
// 1.24, which Debian 12 has not).
require github.com/redis/go-redis/v9 v9.14.1

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f // indirect
)
