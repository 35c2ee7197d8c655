// The logs of the libraries, which nobody reads in a test.
package main

import (
	"github.com/pingcap/log"
	"go.uber.org/zap"
)

func quiet() {
	log.ReplaceGlobals(zap.NewNop(), &log.ZapProperties{})
}
