// Wanderd runs a command on one host of a fleet at a time. See "wanderd --help".
//
// An agent and "wanderd exec" work on one processor, so they need not prepare to follow the limit of their control
// group: that would take time at each start.
//
//go:debug updatemaxprocs=0
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/hook/early"
	"github.com/wanderd/wanderd/cmd/cli"
)

func main() {
	defer func() {
		if defect := recover(); defect != nil {
			fmt.Fprintf(os.Stderr, "wanderd: a defect of this program: %v\n%s", defect, debug.Stack())
			os.Exit(cli.ExitDefect)
		}
	}()
	var prepared *hook.Command
	if len(os.Args) > 1 && os.Args[1] == early.Exec {
		prepared, _ = hook.Prepare() // the error is that of the next attempt
	}
	hups := cli.NewHangups()
	p := program{
		hangups: hups.Take, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), now: time.Now,
		runAgent: runAgent, prepared: prepared,
	}
	ctx, stop := cli.UntilSignal(context.Background(), "wanderd", hups)
	p.ownSignals = stop
	code := p.run(ctx, os.Args[1:])
	stop()
	if p.prepared != nil {
		p.prepared.Abandon()
	}
	os.Exit(code)
}
