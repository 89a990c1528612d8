package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/sim/plan"
)

// planFor runs the command with flags and returns its output.
func planFor(t *testing.T, flags ...string) (string, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("a plan is simulated")
	}
	var out bytes.Buffer
	cmd := newPlanCommand()
	cmd.SetArgs(flags)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestAPlanIsAConfiguration(t *testing.T) {
	const hook = "/bin/true"
	for _, flags := range [][]string{
		{"--members", "40", "--op", "10m", "--every", "1d"},
		{"--members", "60", "--op", "4s", "--every", "15m", "--walk", "random", "--skip", "4s", "--latency", "5ms", "--loss", "1%"},
	} {
		text, err := planFor(t, append(flags, "--json")...)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			TOML, Command string
			Wish          struct {
				Every float64 `json:"every_s"`
				Loss  float64 `json:"loss"`
			}
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "wanderd.toml")
		if err := os.WriteFile(file, []byte("hook = \""+hook+"\"\n"+answer.TOML), 0o600); err != nil {
			t.Fatal(err)
		}
		command := strings.Fields(strings.ReplaceAll(answer.Command, "./sync.sh", hook))
		var checked [2]string
		for i, args := range [][]string{{"--config", file, "config", "check"}, append(command[1:], "config", "check")} {
			var out bytes.Buffer
			p := program{stdout: &out, stderr: &out, now: noon}
			if code := p.run(t.Context(), args); code != exitOK {
				t.Errorf("%v: exit code %d: %s", args, code, out.String())
			}
			checked[i] = out.String()
		}
		if checked[0] != checked[1] || !strings.HasPrefix(checked[0], "ok\n") {
			t.Errorf("the file is\n%s\nand the command line\n%s", checked[0], checked[1])
		}
		if w := answer.Wish; w.Every != 86400 && w.Every != 900 || w.Loss != 0 && w.Loss != 0.01 {
			t.Errorf("%v is understood as %+v", flags, w)
		}
	}
}

func TestAPlanIsTextWithoutJSON(t *testing.T) {
	text, err := planFor(t, "--members", "10", "--op", "1h", "--every", "8h")
	if err != nil || !strings.HasPrefix(text, "10 members, each to run 1h every 8h: that CANNOT be met.\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestAPlanListsAllErrors(t *testing.T) {
	_, err := planFor(t, "--op", "1h", "--every", "1h", "--loss", "60%")
	usage, isUsage := errors.AsType[exitError](err)
	impossible, ok := errors.AsType[*plan.Impossible](err)
	if !isUsage || !ok || len(impossible.Problems) != 3 {
		t.Fatalf("got %v (%T), want three sentences", err, usage)
	}
	for _, flags := range [][]string{{"--op", "5"}, {"--walk", "slow"}, {"--loss", "1.5"}, {"--members", "many"}, {"x"}} {
		if _, err := planFor(t, flags...); err == nil {
			t.Errorf("%v is accepted", flags)
		}
	}
}
