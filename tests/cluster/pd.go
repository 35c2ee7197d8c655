// What clients ask PD: who the members are, where regions and stores are, and what time it is.
package main

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/keyspacepb"
	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"github.com/tikv/client-go/v2/testutils"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const clusterID = 1

// The logical part of a timestamp has so many bits.
const logicalBits = 18

// oracle gives timestamps, each once and each later than those before.
type oracle struct {
	lock     sync.Mutex
	physical int64
	logical  int64
}

// next gives `count` timestamps: the last of them, as its two parts.
func (o *oracle) next(count int64) (int64, int64) {
	o.lock.Lock()
	defer o.lock.Unlock()
	now := time.Now().UnixMilli()
	if now > o.physical {
		o.physical, o.logical = now, 0
	}
	if o.logical+count >= 1<<logicalBits {
		o.physical, o.logical = o.physical+1, 0
	}
	o.logical += count
	return o.physical, o.logical
}

// version gives one timestamp as a number.
func (o *oracle) version() uint64 {
	physical, logical := o.next(1)
	return uint64(physical)<<logicalBits | uint64(logical)
}

type placement struct {
	pdpb.PDServer
	client  *testutils.MockClient
	cluster *testutils.MockCluster
	oracle  *oracle
	faults  *faults
	url     string
	lock    sync.Mutex
	safe    uint64
}

func header() *pdpb.ResponseHeader {
	return &pdpb.ResponseHeader{ClusterId: clusterID}
}

func (p *placement) GetMembers(context.Context, *pdpb.GetMembersRequest) (*pdpb.GetMembersResponse, error) {
	member := &pdpb.Member{Name: "pd", MemberId: 1, ClientUrls: []string{p.url}, PeerUrls: []string{p.url}}
	return &pdpb.GetMembersResponse{
		Header: header(), Members: []*pdpb.Member{member}, Leader: member, EtcdLeader: member,
	}, nil
}

func (p *placement) Tso(stream pdpb.PD_TsoServer) error {
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !p.faults.isUp(pdID) {
			return status.Error(codes.Unavailable, "PD is down")
		}
		p.faults.note("Tso", int64(request.GetCount()))
		time.Sleep(p.faults.delayOf("Tso"))
		physical, logical := p.oracle.next(int64(request.GetCount()))
		answer := &pdpb.TsoResponse{
			Header: header(), Count: request.GetCount(), Timestamp: &pdpb.Timestamp{Physical: physical, Logical: logical},
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

func (p *placement) GetRegion(_ context.Context, request *pdpb.GetRegionRequest) (*pdpb.GetRegionResponse, error) {
	region, leader, _, down := p.cluster.GetRegionByKey(request.GetRegionKey())
	return regionAnswer(region, leader, down), nil
}

func (p *placement) GetRegionByID(_ context.Context, request *pdpb.GetRegionByIDRequest) (*pdpb.GetRegionResponse, error) {
	region, leader, _, down := p.cluster.GetRegionByID(request.GetRegionId())
	return regionAnswer(region, leader, down), nil
}

func regionAnswer(region *metapb.Region, leader *metapb.Peer, down []*metapb.Peer) *pdpb.GetRegionResponse {
	answer := &pdpb.GetRegionResponse{Header: header(), Region: region, Leader: leader}
	for _, peer := range down {
		answer.DownPeers = append(answer.DownPeers, &pdpb.PeerStats{Peer: peer})
	}
	return answer
}

func (p *placement) GetStore(_ context.Context, request *pdpb.GetStoreRequest) (*pdpb.GetStoreResponse, error) {
	return &pdpb.GetStoreResponse{Header: header(), Store: p.cluster.GetStore(request.GetStoreId())}, nil
}

func (p *placement) GetAllStores(context.Context, *pdpb.GetAllStoresRequest) (*pdpb.GetAllStoresResponse, error) {
	return &pdpb.GetAllStoresResponse{Header: header(), Stores: p.cluster.GetAllStores()}, nil
}

// The safe point never moves back. Versions before it go at once; where a lock is left in the way, the next time.
func (p *placement) UpdateGCSafePoint(
	_ context.Context, request *pdpb.UpdateGCSafePointRequest,
) (*pdpb.UpdateGCSafePointResponse, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.safe = max(p.safe, request.GetSafePoint())
	_ = p.client.MvccStore.GC(nil, nil, p.safe)
	return &pdpb.UpdateGCSafePointResponse{Header: header(), NewSafePoint: p.safe}, nil
}

// keyspaces gives every name a number of its own.
type keyspaces struct {
	keyspacepb.KeyspaceServer
	lock  sync.Mutex
	names []string
}

func (k *keyspaces) LoadKeyspace(
	_ context.Context, request *keyspacepb.LoadKeyspaceRequest,
) (*keyspacepb.LoadKeyspaceResponse, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	id := uint32(len(k.names))
	for number, name := range k.names {
		if name == request.GetName() {
			id = uint32(number)
		}
	}
	if int(id) == len(k.names) {
		k.names = append(k.names, request.GetName())
	}
	meta := &keyspacepb.KeyspaceMeta{Id: id + 1, Name: request.GetName(), State: keyspacepb.KeyspaceState_ENABLED}
	return &keyspacepb.LoadKeyspaceResponse{Header: header(), Keyspace: meta}, nil
}
