package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/sim/plan"
)

// planFor runs the command with flags and returns its output.
func planFor(t *testing.T, flags ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newPlanCommand()
	cmd.SetArgs(flags)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestAPlanIsTextWithoutJSON(t *testing.T) {
	text, err := planFor(t, "--members", "10", "--op", "1h", "--every", "8h")
	if err != nil || !strings.HasPrefix(text, "10 members, each to run 1h every 8h: that CANNOT be met.\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestAPlanListsAllErrors(t *testing.T) {
	_, err := planFor(t, "--op", "1h", "--every", "1h", "--loss", "60%")
	impossible, ok := errors.AsType[*plan.Impossible](err)
	if cli.ExitCode(err) != cli.ExitUsage || !ok || len(impossible.Problems) != 3 {
		t.Fatalf("got %v, want three sentences", err)
	}
	for _, flags := range [][]string{
		{"--op", "5"}, {"--walk", "slow"}, {"--loss", "1.5"}, {"--members", "many"}, {"x"},
	} {
		if _, err := planFor(t, flags...); err == nil {
			t.Errorf("%v is accepted", flags)
		}
	}
}

// With --once the plan is for a gate that runs once for the whole fleet.
func TestAPlanForOneRunIsForTheWholeFleet(t *testing.T) {
	text, err := planFor(t, "--members", "4", "--op", "1s", "--every", "1h", "--once")
	if err != nil || !strings.Contains(text, "once = true") || !strings.Contains(text, "--once --min-interval 1h") {
		t.Errorf("%s, %v", text, err)
	}
	for _, flag := range []string{"--soak=1m", "--demand=1h", "--slots=2", "--zones=2"} {
		if _, err := planFor(t, "--members", "4", "--op", "1s", "--every", "1h", "--once", flag); err == nil ||
			!strings.Contains(err.Error(), "leave one of them out") {
			t.Errorf("%s: %v", flag, err)
		}
	}
	if _, err := planFor(t, "--members", "1", "--op", "1s", "--every", "1h", "--once"); err == nil {
		t.Error("one member is a fleet")
	}
}

// With --demand the plan is for a gate without a hook.
func TestAPlanForCallersIsForATokenThatIsCalled(t *testing.T) {
	text, err := planFor(t, "--members", "10", "--op", "2s", "--demand", "10m")
	if err != nil || !strings.Contains(text, "wanderd --policy call --skip 1s --backups 2") {
		t.Errorf("%v\n%s", err, text)
	}
	document, err := planFor(t, "--members", "10", "--op", "2s", "--demand", "10m", "--json")
	if err != nil || !strings.Contains(document, `"datagrams_at_rest": 0`) {
		t.Errorf("%v\n%s", err, document)
	}
	for _, flag := range []string{"--every=1h", "--walk=sweep", "--window=22:00-06:00 UTC", "--svg=x.svg"} {
		_, err := planFor(t, "--members", "10", "--op", "2s", "--demand", "10m", flag)
		if cli.ExitCode(err) != cli.ExitUsage || !strings.Contains(err.Error(), "leave one of them out") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
