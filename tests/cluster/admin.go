// The door for tests: what was asked of the cluster, and orders to break or change it. Every answer is JSON.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"strconv"
	"time"

	"github.com/tikv/client-go/v2/testutils"
)

type admin struct {
	cluster *testutils.MockCluster
	faults  *faults
}

func newAdmin(cluster *testutils.MockCluster, faults *faults) http.Handler {
	admin := &admin{cluster: cluster, faults: faults}
	mux := http.NewServeMux()
	for path, order := range map[string]func(*http.Request) (any, error){
		"/counts":         admin.counts,
		"/bytes":          admin.bytes,
		"/regions":        admin.regions,
		"/split":          admin.split,
		"/merge":          admin.merge,
		"/leader":         admin.leader,
		"/leader/shuffle": admin.shuffle,
		"/delay":          admin.delay(""),
		"/tsodelay":       admin.delay("Tso"),
		"/drop":           admin.fault(faults.lost),
		"/refuse":         admin.fault(faults.denied),
		"/hang":           admin.fault(faults.hung),
		"/store":          admin.up,
		"/pd":             admin.up,
	} {
		mux.HandleFunc(path, func(writer http.ResponseWriter, request *http.Request) {
			answer, err := order(request)
			if err != nil {
				http.Error(writer, err.Error(), http.StatusBadRequest)
				return
			}
			_ = json.NewEncoder(writer).Encode(answer)
		})
	}
	return mux
}

func number(request *http.Request, name string) (uint64, error) {
	return strconv.ParseUint(request.URL.Query().Get(name), 10, 64)
}

func (a *admin) take(request *http.Request, numbers *map[string]int64) map[string]int64 {
	a.faults.lock.Lock()
	defer a.faults.lock.Unlock()
	copied := map[string]int64{}
	for name, count := range *numbers {
		copied[name] = count
	}
	if request.URL.Query().Get("reset") == "1" {
		*numbers = map[string]int64{}
	}
	return copied
}

func (a *admin) counts(request *http.Request) (any, error) {
	return a.take(request, &a.faults.counts), nil
}

func (a *admin) bytes(request *http.Request) (any, error) {
	return a.take(request, &a.faults.bytes), nil
}

func (a *admin) regions(*http.Request) (any, error) {
	type region struct {
		ID         uint64
		Start, End string
		Leader     uint64
	}
	all := []region{}
	for _, known := range a.cluster.GetAllRegions() {
		meta, leader, _, _ := a.cluster.GetRegionByID(known.Meta.Id)
		all = append(all, region{
			ID: meta.Id, Start: hex.EncodeToString(meta.StartKey), End: hex.EncodeToString(meta.EndKey), Leader: leader.GetStoreId(),
		})
	}
	return all, nil
}

// split makes two regions of the one that has a key, which is given as clients know it.
func (a *admin) split(request *http.Request) (any, error) {
	key, err := hex.DecodeString(request.URL.Query().Get("key"))
	if err != nil {
		return nil, err
	}
	// In PD the keys of transactions are in the form that keeps their order in pieces of eight.
	encoded := memcomparable(key)
	region, leader, _, _ := a.cluster.GetRegionByKey(encoded)
	if region == nil {
		return nil, fmt.Errorf("no region has the key")
	}
	if string(region.StartKey) == string(encoded) {
		return region.Id, nil
	}
	id := a.cluster.AllocID()
	peers := a.cluster.AllocIDs(len(region.Peers))
	leaderPeer := peers[0]
	for at, peer := range region.Peers {
		if peer.Id == leader.GetId() {
			leaderPeer = peers[at]
		}
	}
	a.cluster.SplitRaw(region.Id, id, encoded, peers, leaderPeer)
	return id, nil
}

func memcomparable(key []byte) []byte {
	var out []byte
	for {
		piece := key[:min(8, len(key))]
		key = key[len(piece):]
		out = append(out, piece...)
		for range 8 - len(piece) {
			out = append(out, 0)
		}
		out = append(out, 0xFF-byte(8-len(piece)))
		if len(piece) < 8 {
			return out
		}
	}
}

func (a *admin) merge(request *http.Request) (any, error) {
	left, err := number(request, "left")
	if err != nil {
		return nil, err
	}
	right, err := number(request, "right")
	if err != nil {
		return nil, err
	}
	a.cluster.Merge(left, right)
	return left, nil
}

func (a *admin) leader(request *http.Request) (any, error) {
	id, err := number(request, "region")
	if err != nil {
		return nil, err
	}
	store, err := number(request, "store")
	if err != nil {
		return nil, err
	}
	region, _, _, _ := a.cluster.GetRegionByID(id)
	for _, peer := range region.GetPeers() {
		if peer.StoreId == store {
			a.cluster.ChangeLeader(id, peer.Id)
			return store, nil
		}
	}
	return nil, fmt.Errorf("the store has no peer of the region")
}

// shuffle gives every region a leader by chance.
func (a *admin) shuffle(*http.Request) (any, error) {
	changed := 0
	for _, region := range a.cluster.GetAllRegions() {
		peers := region.Meta.Peers
		if len(peers) > 0 {
			a.cluster.ChangeLeader(region.Meta.Id, peers[rand.Intn(len(peers))].Id)
			changed++
		}
	}
	return changed, nil
}

func (a *admin) delay(method string) func(*http.Request) (any, error) {
	return func(request *http.Request) (any, error) {
		microseconds, err := number(request, "us")
		if err != nil {
			return nil, err
		}
		a.faults.lock.Lock()
		defer a.faults.lock.Unlock()
		a.faults.delays[method] = time.Duration(microseconds) * time.Microsecond
		return microseconds, nil
	}
}

func (a *admin) fault(of map[string]int) func(*http.Request) (any, error) {
	return func(request *http.Request) (any, error) {
		count, err := number(request, "n")
		if err != nil {
			return nil, err
		}
		a.faults.lock.Lock()
		defer a.faults.lock.Unlock()
		of[request.URL.Query().Get("method")] = int(count)
		return count, nil
	}
}

// up switches a store, or PD without a number, off and on.
func (a *admin) up(request *http.Request) (any, error) {
	id, _ := number(request, "id")
	a.faults.lock.Lock()
	defer a.faults.lock.Unlock()
	a.faults.down[id] = request.URL.Query().Get("up") == "0"
	return id, nil
}
