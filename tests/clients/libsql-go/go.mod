module edgecask.test/libsql

go 1.18

require github.com/tursodatabase/libsql-client-go v0.0.0-20240902231107-85af5b9d094d

require (
	github.com/antlr4-go/antlr/v4 v4.13.0 // indirect
	github.com/coder/websocket v1.8.12 // indirect
	golang.org/x/exp v0.0.0-20240325151524-a685a6edb6d8 // indirect
)
