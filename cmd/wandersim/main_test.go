package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wanderd/wanderd/cmd/cli/scripted"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"wandersim": main}) }

// The scripts in testdata run the program like an operator.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector would wait a second at every exit
			return nil
		},
		Cmds: scripted.Commands(),
	})
}
