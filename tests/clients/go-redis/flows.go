// How a program runs its flows and tells the driver about each: one line with the flow's name, the outcome (ok,
// failed), the milliseconds it took and what was wrong, separated by tabs; at last a line `end`.
package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// No flow waits longer than a few seconds on a healthy machine; it only bounds how long a broken one hangs.
const flowLimit = 30 * time.Second

// wrong is what a check panics with: the reason why a flow failed.
type wrong struct{ reason string }

type flow struct {
	name string
	run  func(ctx context.Context)
}

// runAll runs the flows in order and says whether all were fine.
func runAll(flows []flow) bool {
	fine := true
	for _, each := range flows {
		begin := time.Now()
		outcome, reason := "ok", runOne(each)
		if reason != "" {
			outcome, fine = "failed", false
		}
		fmt.Printf("%s\t%s\t%d\t%s\n", each.name, outcome, time.Since(begin).Milliseconds(),
			strings.Join(strings.Fields(reason), " "))
	}
	fmt.Println("end")
	return fine
}

// runOne returns why the flow failed, or nothing.
func runOne(each flow) (reason string) {
	ctx, cancel := context.WithTimeout(context.Background(), flowLimit)
	defer cancel()
	defer func() {
		switch found := recover().(type) {
		case nil:
		case wrong:
			reason = found.reason
		default:
			panic(found)
		}
	}()
	each.run(ctx)
	return ""
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(wrong{err.Error()})
	}
	return value
}

func fine(err error) {
	if err != nil {
		panic(wrong{err.Error()})
	}
}

func same(actual, wanted any) {
	if !reflect.DeepEqual(actual, wanted) {
		panic(wrong{fmt.Sprintf("%.300s is not %.300s", fmt.Sprintf("%#v", actual), fmt.Sprintf("%#v", wanted))})
	}
}

// fails checks that a call failed in one certain way.
func fails(err, wanted error) {
	if !errors.Is(err, wanted) {
		panic(wrong{fmt.Sprintf("the error was %v instead of %v", err, wanted)})
	}
}

// failsWith checks that a call failed with a text like this.
func failsWith(err error, text string) {
	if err == nil || !strings.Contains(err.Error(), text) {
		panic(wrong{fmt.Sprintf("the error was %v instead of %q", err, text)})
	}
}

// eventually waits for something that another connection does.
func eventually(ctx context.Context, what string, condition func() bool) {
	for !condition() {
		select {
		case <-ctx.Done():
			panic(wrong{what + " did not happen"})
		case <-time.After(10 * time.Millisecond):
		}
	}
}
