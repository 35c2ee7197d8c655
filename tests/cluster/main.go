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
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	stores := flag.Int("stores", 1, "how many stores the cluster has")
	path := flag.String("path", "", "directory that outlives the process; without one everything is in memory")
	tlsPath := flag.String("tls", "", "directory with ca.pem, cert.pem and key.pem: everything but the admin port is under TLS, in which clients show a certificate, too")
	untilStdin := flag.Bool("stdin", false, "end when standard input is closed")
	flag.Parse()
	log.SetFlags(0)
	quiet()

	client, cluster, _, err := testutils.NewMockTiKV(*path, nil)
	if err != nil {
		log.Fatal(err)
	}
	ids, _, _, _ := testutils.BootstrapWithMultiStores(cluster, *stores)
	credentials, scheme := insecure.NewCredentials(), "http://"
	if *tlsPath != "" {
		credentials, scheme = transport(*tlsPath), "https://"
	}
	faults, oracle, ended := newFaults(), &oracle{}, newEnded()
	servers := map[uint64]*server{}
	for _, id := range ids {
		stored := &store{client: client, oracle: oracle, ended: ended}
		servers[id] = newServer(faults.of(id), credentials, func(server *grpc.Server) { tikvpb.RegisterTikvServer(server, stored) })
		stored.address = servers[id].address
		cluster.UpdateStoreAddr(id, stored.address)
	}

	pd, keyspaces := &placement{client: client, cluster: cluster, oracle: oracle, faults: faults}, &keyspaces{}
	servers[pdID] = newServer(faults.of(pdID), credentials, func(server *grpc.Server) {
		pdpb.RegisterPDServer(server, pd)
		keyspacepb.RegisterKeyspaceServer(server, keyspaces)
	})
	pd.url = scheme + servers[pdID].address
	for _, server := range servers {
		if err := server.begin(); err != nil {
			log.Fatal(err)
		}
	}

	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		log.Fatal(err)
	}
	admin := newAdmin(&admin{client: client, cluster: cluster, faults: faults, servers: servers})
	go func() {
		log.Fatal(http.Serve(listener, admin))
	}()
	fmt.Printf("PD %s ADMIN %s\n", servers[pdID].address, listener.Addr())

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
