// A server of the protocol that may end and begin again where it was.
package main

import (
	"fmt"
	"log"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

const anyPort = "127.0.0.1:0"

// The longest message either way, as clients of TiKV set it.
const messageMaxBytes = 64 << 20

type server struct {
	address   string
	faults    *faultsOf
	transport credentials.TransportCredentials
	register  func(*grpc.Server)
	lock      sync.Mutex
	listener  net.Listener
	running   *grpc.Server
}

// newServer takes a port; `begin` serves on it.
func newServer(faults *faultsOf, transport credentials.TransportCredentials, register func(*grpc.Server)) *server {
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		log.Fatal(err)
	}
	return &server{address: listener.Addr().String(), faults: faults, transport: transport, register: register, listener: listener}
}

func (s *server) begin() error {
	if s == nil {
		return fmt.Errorf("there is no such store")
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.running != nil {
		return fmt.Errorf("it runs")
	}
	if s.listener == nil {
		listener, err := net.Listen("tcp", s.address)
		if err != nil {
			return err
		}
		s.listener = listener
	}
	running := grpc.NewServer(
		grpc.Creds(s.transport),
		grpc.MaxRecvMsgSize(messageMaxBytes),
		grpc.MaxSendMsgSize(messageMaxBytes),
		grpc.UnaryInterceptor(s.faults.intercept),
	)
	s.register(running)
	go func(listener net.Listener) {
		err := running.Serve(listener)
		s.lock.Lock()
		defer s.lock.Unlock()
		if err != nil && s.running == running {
			log.Fatal(err)
		}
	}(s.listener)
	s.running = running
	return nil
}

// end closes the port and all connections.
func (s *server) end() error {
	if s == nil {
		return fmt.Errorf("there is no such store")
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.running == nil {
		return fmt.Errorf("it has ended")
	}
	// A request that hangs on purpose would keep this from returning.
	go s.running.Stop()
	_ = s.listener.Close()
	s.running, s.listener = nil, nil
	return nil
}
