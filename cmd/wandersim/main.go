// Wandersim foresees what a fleet of wanderd does, and looks for faults of its protocols. See "wandersim --help".
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/wanderd/wanderd/cmd/cli"
)

func main() {
	name := programName
	if filepath.Base(os.Args[0]) == agentName {
		name = agentName
	}
	defer func() {
		if defect := recover(); defect != nil {
			fmt.Fprintf(os.Stderr, "%s: a defect of this program: %v\n%s", name, defect, debug.Stack())
			os.Exit(cli.ExitDefect)
		}
	}()
	p := program{name: name, stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
	ctx, stop := cli.UntilSignal(context.Background(), name, nil)
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
