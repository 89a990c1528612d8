package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/sim/hunt"
)

func TestASignalEndsEverySimulation(t *testing.T) {
	for _, line := range []string{
		"sim", "sim --seeds 3", "sim hunt --seeds 100000", "sim trace --seed 1",
		"sim trace --members 3 --for 1d",
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cli.SignalError(syscall.SIGTERM))
		var out, complaints bytes.Buffer
		p := program{stdout: &out, stderr: &complaints, now: time.Now}
		if code := p.run(ctx, strings.Fields(line)); code != cli.ExitSignal+int(syscall.SIGTERM) {
			t.Errorf("%s: exit code %d", line, code)
		}
		if !strings.Contains(complaints.String(), "terminated") {
			t.Errorf("%s: %s", line, complaints.String())
		}
	}
}

func TestAHuntPrintsItsProgress(t *testing.T) {
	var out, lines bytes.Buffer
	now := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	p := program{stdout: &out, stderr: &lines, now: func() time.Time {
		now = now.Add(6 * time.Second)
		return now
	}}
	if code := p.run(t.Context(), strings.Fields("sim hunt --seeds 6")); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, lines.String())
	}
	// The clock is read after each seed, and every second reading prints a line.
	if n := strings.Count(lines.String(), "things have occurred\n"); n != 3 ||
		!strings.HasPrefix(lines.String(), "2 seeds, ") {
		t.Errorf("%d lines:\n%s", n, lines.String())
	}
	if !strings.HasPrefix(out.String(), "6 seeds, ") {
		t.Error(out.String())
	}
}

func TestASeedThatBreaksARuleIsShownWithParametersAndTrace(t *testing.T) {
	broken := errors.New("a token is held twice")
	failure := &hunt.Failure{
		Seed: 17, Parameters: "  MinInterval  10s\n", Err: broken, Trace: "the end of the trace\n",
		Replay: "wanderd sim hunt --seed 17 --seeds 1",
	}
	var out bytes.Buffer
	p := program{stdout: &out}
	err := p.concludeHunt(&hunt.Report{Seeds: 17, Failure: failure}, time.Second)
	if !errors.Is(err, broken) || cli.ExitCode(err) != cli.ExitFailure {
		t.Errorf("%v", err)
	}
	for _, want := range []string{
		"17 seeds, 17 a second", "seed 17: a token is held twice", "MinInterval", "the end of the trace",
		failure.Replay,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
