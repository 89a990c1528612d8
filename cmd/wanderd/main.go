// Wanderd runs a command on one host of a fleet at a time. See "wanderd --help".
//
// Exit codes, after sysexits(3) where it has one:
//
//	0         done; or an agent was stopped and has left in order
//	1         any other error, such as an address in use or a full disk
//	64        usage: an unknown command or flag, a superfluous argument, or a simulation with invalid parameters
//	69        no agent answers on the control socket
//	70        a defect of this program
//	77        not permitted to use the control socket
//	78        the configuration is wrong; the output lists all errors
//	75        exec: the gate was not granted in time. Its other codes are its command's, or in its help
//	128 + N   signal N ended a simulation, or came as the second one before the agent had left
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
