// mocktikvd is a cluster for tests: PD and TiKV by their real protocols, in one process and on loopback.
//
// The stores are those of TiKV's Go client (mocktikv); this program gives them the network, mends where they answer otherwise
// than TiKV does, and breaks them on request. The first line of its output names the addresses:
//
//	PD 127.0.0.1:1234 ADMIN 127.0.0.1:5678
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/pingcap/kvproto/pkg/keyspacepb"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"github.com/tikv/client-go/v2/testutils"
	"google.golang.org/grpc"
)

// The longest message either way, as clients of TiKV set it.
const messageMaxBytes = 64 << 20

func main() {
	stores := flag.Int("stores", 1, "how many stores the cluster has")
	path := flag.String("path", "", "directory that outlives the process; without one everything is in memory")
	untilStdin := flag.Bool("stdin", false, "end when standard input is closed")
	flag.Parse()
	log.SetFlags(0)
	quiet()

	client, cluster, _, err := testutils.NewMockTiKV(*path, nil)
	if err != nil {
		log.Fatal(err)
	}
	ids, _, _, _ := testutils.BootstrapWithMultiStores(cluster, *stores)
	faults := newFaults()
	oracle := &oracle{}
	for _, id := range ids {
		listener := listen()
		address := listener.Addr().String()
		cluster.UpdateStoreAddr(id, address)
		server := newServer(faults.of(id))
		tikvpb.RegisterTikvServer(server, &store{client: client, address: address, oracle: oracle, ended: newEnded()})
		go serve(server, listener)
	}

	listener := listen()
	pd := &placement{cluster: cluster, oracle: oracle, faults: faults, url: "http://" + listener.Addr().String()}
	server := newServer(faults.of(pdID))
	pdpb.RegisterPDServer(server, pd)
	keyspacepb.RegisterKeyspaceServer(server, &keyspaces{})
	go serve(server, listener)

	admin := listen()
	go func() {
		log.Fatal(http.Serve(admin, newAdmin(cluster, faults)))
	}()
	fmt.Printf("PD %s ADMIN %s\n", listener.Addr(), admin.Addr())

	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	if *untilStdin {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			ends <- syscall.SIGTERM
		}()
	}
	<-ends
	_ = client.Close()
}

func newServer(faults *faultsOf) *grpc.Server {
	return grpc.NewServer(
		grpc.MaxRecvMsgSize(messageMaxBytes),
		grpc.MaxSendMsgSize(messageMaxBytes),
		grpc.UnaryInterceptor(faults.intercept),
	)
}

func serve(server *grpc.Server, listener net.Listener) {
	if err := server.Serve(listener); err != nil {
		log.Fatal(err)
	}
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return listener
}
