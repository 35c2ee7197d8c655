// What goes wrong on request, and the counts of what was asked.
package main

import (
	"context"
	"fmt"
	"path"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// PD among the stores, whose numbers begin at 1.
const pdID = 0

// faults is shared by all servers of the cluster.
type faults struct {
	lock   sync.Mutex
	counts map[string]int64
	bytes  map[string]int64
	delays map[string]time.Duration
	down   map[uint64]bool
	lost   map[string]span
	denied map[string]span
	hung   map[string]span
	muted  map[string]span
}

// span is how many requests pass before a fault happens, and how many it happens to.
type span struct{ pass, count int }

// faultsOf is the part of one server.
type faultsOf struct {
	*faults
	id uint64
}

func newFaults() *faults {
	return &faults{
		counts: map[string]int64{}, bytes: map[string]int64{}, delays: map[string]time.Duration{}, down: map[uint64]bool{},
		lost: map[string]span{}, denied: map[string]span{}, hung: map[string]span{}, muted: map[string]span{},
	}
}

func (f *faults) of(id uint64) *faultsOf {
	return &faultsOf{faults: f, id: id}
}

func (f *faults) note(method string, count int64) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.counts[method] += count
}

func (f *faults) isUp(id uint64) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return !f.down[id]
}

// delayOf is how long a method takes more than it would; "" is what all of a store's take more.
func (f *faults) delayOf(method string) time.Duration {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.delays[method]
}

// take says whether a fault is to happen now.
func (f *faults) take(of map[string]span, method string) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	span := of[method]
	switch {
	case span.count == 0:
		return false
	case span.pass > 0:
		span.pass--
		of[method] = span
		return false
	}
	span.count--
	of[method] = span
	return true
}

// sized is what messages of the protocol can tell about themselves.
type sized interface{ Size() int }

func (f *faultsOf) intercept(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler,
) (answer any, err error) {
	method := kindOf(path.Base(info.FullMethod), request)
	f.note(method, 1)
	switch {
	case !f.isUp(f.id):
		return nil, status.Error(codes.Unavailable, "it is down")
	case f.take(f.denied, method):
		return nil, status.Error(codes.Unavailable, "refused on request")
	case f.take(f.hung, method):
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if f.id != pdID {
		time.Sleep(f.delayOf(""))
	}
	time.Sleep(f.delayOf(method))
	defer func() {
		// The mock panics where a key is not in the region that it was asked for.
		if reason := recover(); reason != nil {
			answer, err = nil, status.Error(codes.Internal, fmt.Sprint(reason))
		}
	}()
	// What has arrived is done, also when nobody waits for the answer any more.
	answer, err = handle(context.WithoutCancel(ctx), request)
	f.noteBytes(method, request, answer)
	if f.take(f.muted, method) {
		<-ctx.Done()
	}
	if f.take(f.lost, method) {
		return nil, status.Error(codes.Unavailable, "the answer was lost on request")
	}
	return answer, err
}

func (f *faults) noteBytes(method string, messages ...any) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, message := range messages {
		if sized, is := message.(sized); is {
			f.bytes[method] += int64(sized.Size())
		}
	}
}
