package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wanderd/wanderd/cmd/cli/scripted"
)

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"wanderd": main})
}

// tests runs the tests, and not the program, which the same process acts as elsewhere.
type tests struct{ *testing.M }

func (t tests) Run() int {
	hangUpAsUsual()
	return t.M.Run()
}

// hangUpAsUsual makes processes that tests start get SIGHUP, even under nohup, where a test ignores it and they would
// too.
func hangUpAsUsual() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
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
		Cmds: scripted.Commands(),
	})
}
