package main

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/cmd/cli"
)

// start runs a command line with an agent that only records its configuration.
func start(t *testing.T, fails error, args ...string) (c agent.Config, code int, stderr string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	var out, errs bytes.Buffer
	p := program{
		stdout: &out, stderr: &errs, environ: []string{"WANDERD_STATE_DIR=/var/x", "WANDERD_OPP=1s"}, now: noon,
		runAgent: func(_ context.Context, got agent.Config) error {
			c = got
			return fails
		},
	}
	code = p.run(t.Context(), args)
	return c, code, errs.String()
}

func TestFlagsReachTheAgent(t *testing.T) {
	c, code, stderr := start(t, nil, "--hook", "/bin/sh -c true", "--join", "127.0.0.1:7", "--name", "m1", "--alone",
		"wait", "--advertise", "10.0.0.1")
	if code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if c.Name != "m1" || c.Alone != agent.AloneWait || c.Version == "" || c.Bind.String() != "127.0.0.1:7946" ||
		c.Advertise.String() != "10.0.0.1:7946" || c.StateDir != "/var/x" || len(c.Gates) != 1 ||
		len(c.Gates[0].Hook) != 3 {
		t.Errorf("%+v", c)
	}
	if !bytes.Contains([]byte(stderr), []byte("did you mean")) {
		t.Errorf("the log does not warn: %s", stderr)
	}
}

func TestFailureOfTheAgentIsPrinted(t *testing.T) {
	_, code, stderr := start(t, errors.New("127.0.0.1:7946 is in use"), "--hook", "/bin/sh -c true")
	if code != cli.ExitFailure || !bytes.HasSuffix([]byte(stderr), []byte("wanderd: 127.0.0.1:7946 is in use\n")) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
