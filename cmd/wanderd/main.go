// Wanderd runs a command on one host of a fleet at a time. See "wanderd --help".
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
)

func main() {
	if hook.IsGuard() {
		os.Exit(hook.Guard())
	}
	defer func() {
		if defect := recover(); defect != nil {
			fmt.Fprintf(os.Stderr, "wanderd: a defect of this program: %v\n%s", defect, debug.Stack())
			os.Exit(exitDefect)
		}
	}()
	hups := &hangups{came: make(chan struct{}, 1)}
	p := program{
		hangups: hups.take, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), now: time.Now, runAgent: runAgent,
	}
	ctx, stop := untilSignal(context.Background(), hups)
	p.ownSignals = stop
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
