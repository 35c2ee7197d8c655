// The door for tests: what was asked of the cluster, and orders to break or change it. Every answer is JSON.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"net/http"
	"strconv"
	"time"

	"github.com/tikv/client-go/v2/testutils"
)

type admin struct {
	client  *testutils.MockClient
	cluster *testutils.MockCluster
	faults  *faults
	servers map[uint64]*server
}

func newAdmin(admin *admin) http.Handler {
	faults := admin.faults
	mux := http.NewServeMux()
	for path, order := range map[string]func(*http.Request) (any, error){
		"/counts":         admin.counts,
		"/bytes":          admin.bytes,
		"/keys":           admin.keys,
		"/versions":       admin.versions,
		"/regions":        admin.regions,
		"/split":          admin.split,
		"/merge":          admin.merge,
		"/leader":         admin.leader,
		"/leader/shuffle": admin.shuffle,
		"/leader/away":    admin.away,
		"/locks":          admin.locks,
		"/delay":          admin.delay(""),
		"/tsodelay":       admin.delay("Tso"),
		"/drop":           admin.fault(faults.lost),
		"/refuse":         admin.fault(faults.denied),
		"/hang":           admin.fault(faults.hung),
		"/mute":           admin.fault(faults.muted),
		"/heal":           admin.heal,
		"/store":          admin.up,
		"/pd":             admin.up,
		"/end":            admin.end,
		"/begin":          admin.begin,
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

// away gives the regions that a store leads to another of their stores, as happens where a store is gone.
func (a *admin) away(request *http.Request) (any, error) {
	store, err := number(request, "store")
	if err != nil {
		return nil, err
	}
	moved := 0
	for _, region := range a.cluster.GetAllRegions() {
		_, leader, _, _ := a.cluster.GetRegionByID(region.Meta.Id)
		for _, peer := range region.Meta.Peers {
			if leader.GetStoreId() == store && peer.StoreId != store {
				a.cluster.ChangeLeader(region.Meta.Id, peer.Id)
				moved++
				break
			}
		}
	}
	return moved, nil
}

// locks tells the keys that are locked.
func (a *admin) locks(*http.Request) (any, error) {
	locks, err := a.client.MvccStore.ScanLock(nil, nil, math.MaxUint64)
	if err != nil {
		return nil, err
	}
	keys := []string{}
	for _, lock := range locks {
		keys = append(keys, hex.EncodeToString(lock.Key))
	}
	return keys, nil
}

// delay makes a method take longer; `method` of the request says which one, where the path does not.
func (a *admin) delay(method string) func(*http.Request) (any, error) {
	return func(request *http.Request) (any, error) {
		microseconds, err := number(request, "us")
		if err != nil {
			return nil, err
		}
		method := method
		if method == "" {
			method = request.URL.Query().Get("method")
		}
		a.faults.lock.Lock()
		defer a.faults.lock.Unlock()
		a.faults.delays[method] = time.Duration(microseconds) * time.Microsecond
		return microseconds, nil
	}
}

// fault makes something go wrong with the next `n` requests of a method, after `pass` of them.
func (a *admin) fault(of map[string]span) func(*http.Request) (any, error) {
	return func(request *http.Request) (any, error) {
		count, err := number(request, "n")
		if err != nil {
			return nil, err
		}
		pass, _ := number(request, "pass")
		a.faults.lock.Lock()
		defer a.faults.lock.Unlock()
		of[request.URL.Query().Get("method")] = span{pass: int(pass), count: int(count)}
		return count, nil
	}
}

// heal ends all faults, but begins no server that has ended.
func (a *admin) heal(*http.Request) (any, error) {
	a.faults.lock.Lock()
	defer a.faults.lock.Unlock()
	for _, of := range []map[string]span{a.faults.lost, a.faults.denied, a.faults.hung, a.faults.muted} {
		clear(of)
	}
	clear(a.faults.delays)
	clear(a.faults.down)
	return true, nil
}

// up switches a store, or PD without a number, off and on.
func (a *admin) up(request *http.Request) (any, error) {
	id, _ := number(request, "id")
	a.faults.lock.Lock()
	defer a.faults.lock.Unlock()
	a.faults.down[id] = request.URL.Query().Get("up") == "0"
	return id, nil
}

// end closes the port and the connections of a store, or of PD without a number, as the end of its process does.
func (a *admin) end(request *http.Request) (any, error) {
	id, _ := number(request, "id")
	return id, a.servers[id].end()
}

// begin opens the port again.
func (a *admin) begin(request *http.Request) (any, error) {
	id, _ := number(request, "id")
	return id, a.servers[id].begin()
}
