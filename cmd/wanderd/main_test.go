package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wanderd/wanderd/agent/hook"
)

func TestMain(m *testing.M) {
	if hook.IsGuard() {
		os.Exit(hook.Guard())
	}
	testscript.Main(m, map[string]func(){"wanderd": main})
}

// The scripts in testdata run the program like an operator.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("WANDERD_STATE_DIR", env.WorkDir+"/state")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector would wait a second at every exit
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "until": until,
		},
	})
}

// exits CODE PROGRAM ARG... runs a program that ends with the given code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code, err := 0, ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// patience bounds every wait.
const patience = 30 * time.Second

// until PROGRAM ARG... repeats a program until it succeeds.
func until(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := ts.Exec(args[0], args[1:]...)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("waited in vain: %s", fmt.Sprint(err))
		}
	}
}
