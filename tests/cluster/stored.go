// What the stores hold, as tests ask for it: of all keys that begin with `prefix`, which is given in hexadecimal.
package main

import (
	"encoding/hex"
	"math"
	"net/http"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
)

// keys names those that have a value.
func (a *admin) keys(request *http.Request) (any, error) {
	names, err := a.names(request)
	if err != nil {
		return nil, err
	}
	shown := []string{}
	for _, name := range names {
		shown = append(shown, hex.EncodeToString(name))
	}
	return shown, nil
}

// versions counts those of all keys that have a value.
func (a *admin) versions(request *http.Request) (any, error) {
	names, err := a.names(request)
	if err != nil {
		return nil, err
	}
	store, is := a.client.MvccStore.(interface {
		MvccGetByKey(key []byte) *kvrpcpb.MvccInfo
	})
	count := 0
	for _, name := range names {
		if is {
			count += len(store.MvccGetByKey(name).GetWrites())
		}
	}
	return count, nil
}

func (a *admin) names(request *http.Request) ([][]byte, error) {
	prefix, err := hex.DecodeString(request.URL.Query().Get("prefix"))
	if err != nil {
		return nil, err
	}
	pairs := a.client.MvccStore.Scan(
		prefix, behind(prefix), math.MaxInt32, math.MaxUint64, kvrpcpb.IsolationLevel_RC, nil,
	)
	names := [][]byte{}
	for _, pair := range pairs {
		names = append(names, pair.Key)
	}
	return names, nil
}

// behind is the first key behind all that begin with a prefix; none if there is no such key.
func behind(prefix []byte) []byte {
	for at := len(prefix) - 1; at >= 0; at-- {
		if prefix[at] < 0xff {
			next := append([]byte{}, prefix[:at+1]...)
			next[at]++
			return next
		}
	}
	return nil
}
