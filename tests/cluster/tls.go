// Certificates of the cluster and of its clients.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"log"
	"os"
	"path/filepath"

	"google.golang.org/grpc/credentials"
)

// transport is TLS by the files of a directory; clients must show a certificate of the same authority.
func transport(directory string) credentials.TransportCredentials {
	file := func(name string) string { return filepath.Join(directory, name) }
	certificate, err := tls.LoadX509KeyPair(file("cert.pem"), file("key.pem"))
	if err != nil {
		log.Fatal(err)
	}
	authority, err := os.ReadFile(file("ca.pem"))
	if err != nil {
		log.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		log.Fatal("the authority cannot be read")
	}
	return credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
		NextProtos:   []string{"h2"},
	})
}
