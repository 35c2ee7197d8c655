// What clients ask a store, mended where the mock answers otherwise than TiKV.
package main

import (
	"context"
	"sync"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"github.com/tikv/client-go/v2/testutils"
	"github.com/tikv/client-go/v2/tikvrpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The mock has no writes of one phase, so they are two phases here that happen as one: nobody else asks about them meanwhile.
const onePhaseTTL = 3000

type store struct {
	tikvpb.TikvServer
	client  *testutils.MockClient
	address string
	oracle  *oracle
	ended   *ended
}

// ended remembers transactions of one phase, so that one that is sent again is told the same.
type ended struct {
	lock    sync.Mutex
	commits map[uint64]uint64
}

func newEnded() *ended {
	return &ended{commits: map[uint64]uint64{}}
}

func (e *ended) of(start uint64) (uint64, bool) {
	e.lock.Lock()
	defer e.lock.Unlock()
	commit, known := e.commits[start]
	return commit, known
}

func (e *ended) note(start, commit uint64) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if len(e.commits) > 1<<20 {
		e.commits = map[uint64]uint64{}
	}
	e.commits[start] = commit
}

// ask hands a request to the mock.
func ask[A any](ctx context.Context, s *store, command tikvrpc.CmdType, request any, region *kvrpcpb.Context) (A, error) {
	var none A
	if region == nil {
		region = &kvrpcpb.Context{}
	}
	answer, err := s.client.SendRequest(ctx, s.address, tikvrpc.NewRequest(command, request, *region), 0)
	if err != nil {
		return none, status.Error(codes.Unavailable, err.Error())
	}
	typed, is := answer.Resp.(A)
	if !is {
		return none, status.Errorf(codes.Internal, "the mock answers with %T", answer.Resp)
	}
	return typed, nil
}

func (s *store) KvGet(ctx context.Context, request *kvrpcpb.GetRequest) (*kvrpcpb.GetResponse, error) {
	answer, err := ask[*kvrpcpb.GetResponse](ctx, s, tikvrpc.CmdGet, request, request.Context)
	if err == nil && answer.RegionError == nil && answer.Error == nil {
		// Without this a key that is not there is an empty value.
		answer.NotFound = answer.Value == nil
	}
	return answer, err
}

func (s *store) KvBatchGet(ctx context.Context, request *kvrpcpb.BatchGetRequest) (*kvrpcpb.BatchGetResponse, error) {
	return ask[*kvrpcpb.BatchGetResponse](ctx, s, tikvrpc.CmdBatchGet, request, request.Context)
}

func (s *store) KvScan(ctx context.Context, request *kvrpcpb.ScanRequest) (*kvrpcpb.ScanResponse, error) {
	answer, err := ask[*kvrpcpb.ScanResponse](ctx, s, tikvrpc.CmdScan, request, request.Context)
	if err == nil && request.KeyOnly {
		for _, pair := range answer.Pairs {
			pair.Value = nil
		}
	}
	return answer, err
}

// What TiKV takes of a key as it is stored (storage.max-key-size).
const keyMaxBytes = 8 * 1024

func (s *store) KvPrewrite(ctx context.Context, request *kvrpcpb.PrewriteRequest) (*kvrpcpb.PrewriteResponse, error) {
	for _, mutation := range request.Mutations {
		if len(memcomparable(mutation.Key)) > keyMaxBytes {
			refused := []*kvrpcpb.KeyError{{Abort: "the key is too long"}}
			return &kvrpcpb.PrewriteResponse{Errors: refused}, nil
		}
	}
	if commit, known := s.ended.of(request.StartVersion); known && request.TryOnePc {
		return &kvrpcpb.PrewriteResponse{OnePcCommitTs: commit}, nil
	}
	if request.TryOnePc && request.LockTtl < onePhaseTTL {
		request.LockTtl = onePhaseTTL
	}
	answer, err := ask[*kvrpcpb.PrewriteResponse](ctx, s, tikvrpc.CmdPrewrite, request, request.Context)
	if err != nil || !request.TryOnePc || answer.RegionError != nil || len(answer.Errors) > 0 {
		return answer, err
	}
	// Only now: a reader that began before sees the lock or nothing of it.
	commit := s.oracle.version()
	keys := make([][]byte, 0, len(request.Mutations))
	for _, mutation := range request.Mutations {
		keys = append(keys, mutation.Key)
	}
	if err := s.client.MvccStore.Commit(keys, request.StartVersion, commit); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	s.ended.note(request.StartVersion, commit)
	answer.OnePcCommitTs = commit
	return answer, nil
}

func (s *store) KvCommit(ctx context.Context, request *kvrpcpb.CommitRequest) (*kvrpcpb.CommitResponse, error) {
	return ask[*kvrpcpb.CommitResponse](ctx, s, tikvrpc.CmdCommit, request, request.Context)
}

func (s *store) KvBatchRollback(
	ctx context.Context, request *kvrpcpb.BatchRollbackRequest,
) (*kvrpcpb.BatchRollbackResponse, error) {
	return ask[*kvrpcpb.BatchRollbackResponse](ctx, s, tikvrpc.CmdBatchRollback, request, request.Context)
}

func (s *store) KvTxnHeartBeat(
	ctx context.Context, request *kvrpcpb.TxnHeartBeatRequest,
) (*kvrpcpb.TxnHeartBeatResponse, error) {
	return ask[*kvrpcpb.TxnHeartBeatResponse](ctx, s, tikvrpc.CmdTxnHeartBeat, request, request.Context)
}

func (s *store) KvCheckTxnStatus(
	ctx context.Context, request *kvrpcpb.CheckTxnStatusRequest,
) (*kvrpcpb.CheckTxnStatusResponse, error) {
	answer, err := ask[*kvrpcpb.CheckTxnStatusResponse](ctx, s, tikvrpc.CmdCheckTxnStatus, request, request.Context)
	if err != nil || answer.LockTtl == 0 || answer.LockInfo != nil {
		return answer, err
	}
	// A lock that lives is told with its facts; the Rust client ends without them. It may be gone by now.
	answer.LockInfo = &kvrpcpb.LockInfo{
		PrimaryLock: request.PrimaryKey, Key: request.PrimaryKey, LockVersion: request.LockTs, LockTtl: answer.LockTtl,
	}
	return answer, nil
}

func (s *store) KvScanLock(ctx context.Context, request *kvrpcpb.ScanLockRequest) (*kvrpcpb.ScanLockResponse, error) {
	return ask[*kvrpcpb.ScanLockResponse](ctx, s, tikvrpc.CmdScanLock, request, request.Context)
}

func (s *store) KvResolveLock(
	ctx context.Context, request *kvrpcpb.ResolveLockRequest,
) (*kvrpcpb.ResolveLockResponse, error) {
	if len(request.TxnInfos) == 0 {
		return ask[*kvrpcpb.ResolveLockResponse](ctx, s, tikvrpc.CmdResolveLock, request, request.Context)
	}
	// The mock looks at one transaction of a request only.
	var answer *kvrpcpb.ResolveLockResponse
	for _, info := range request.TxnInfos {
		one := &kvrpcpb.ResolveLockRequest{Context: request.Context, StartVersion: info.Txn, CommitVersion: info.Status}
		var err error
		answer, err = ask[*kvrpcpb.ResolveLockResponse](ctx, s, tikvrpc.CmdResolveLock, one, request.Context)
		if err != nil || answer.RegionError != nil || answer.Error != nil {
			return answer, err
		}
	}
	return answer, nil
}

func (s *store) KvDeleteRange(
	ctx context.Context, request *kvrpcpb.DeleteRangeRequest,
) (*kvrpcpb.DeleteRangeResponse, error) {
	return ask[*kvrpcpb.DeleteRangeResponse](ctx, s, tikvrpc.CmdDeleteRange, request, request.Context)
}

func (s *store) UnsafeDestroyRange(
	_ context.Context, request *kvrpcpb.UnsafeDestroyRangeRequest,
) (*kvrpcpb.UnsafeDestroyRangeResponse, error) {
	if err := s.client.MvccStore.DeleteRange(request.StartKey, request.EndKey); err != nil {
		return &kvrpcpb.UnsafeDestroyRangeResponse{Error: err.Error()}, nil
	}
	return &kvrpcpb.UnsafeDestroyRangeResponse{}, nil
}
