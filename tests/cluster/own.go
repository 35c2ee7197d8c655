// Requests that servers make by themselves: leases, hints and the like, which happen at any time.
package main

import (
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
)

// Put before the method of such a request, so that counts and faults of the others mean what clients ask for.
const own = "own "

// Spaces from this one on are about the store itself.
const firstOwnSpace = 0xfffffff0

// kindOf is the name under which a request is counted, and met by faults.
func kindOf(method string, request any) string {
	if isOwn(keyOf(request)) {
		return own + method
	}
	return method
}

// keyOf is a key that a request is about.
func keyOf(request any) []byte {
	switch asked := request.(type) {
	case *kvrpcpb.GetRequest:
		return asked.Key
	case *kvrpcpb.BatchGetRequest:
		return first(asked.Keys)
	case *kvrpcpb.ScanRequest:
		return asked.StartKey
	case *kvrpcpb.PrewriteRequest:
		for _, mutation := range asked.Mutations {
			return mutation.Key
		}
	case *kvrpcpb.CommitRequest:
		return first(asked.Keys)
	case *kvrpcpb.BatchRollbackRequest:
		return first(asked.Keys)
	case *kvrpcpb.CheckTxnStatusRequest:
		return asked.PrimaryKey
	}
	return nil
}

func first(keys [][]byte) []byte {
	if len(keys) == 0 {
		return nil
	}
	return keys[0]
}

// isOwn tells by the name of a key, which begins with the length of the store's name, that name, and a space of four bytes.
func isOwn(key []byte) bool {
	if len(key) == 0 || len(key) < 5+int(key[0]) {
		return false
	}
	space := key[1+int(key[0]):]
	return uint32(space[0])<<24|uint32(space[1])<<16|uint32(space[2])<<8|uint32(space[3]) >= firstOwnSpace
}
