package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var simulator = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-o", filepath.Join(filepath.Dir(built.path), "wandersim"),
		"github.com/wanderd/wanderd/cmd/wandersim").CombinedOutput()
	if err != nil {
		err = errors.New(string(out))
	}
	return err
})

// both builds wanderd, and wandersim beside it.
func both(t *testing.T) (wanderd, wandersim string) {
	t.Helper()
	wanderd = program(t)
	if err := simulator(); err != nil {
		t.Fatal(err)
	}
	return wanderd, filepath.Join(filepath.Dir(wanderd), "wandersim")
}

// call runs a program, and returns what it prints and its exit code.
func call(t *testing.T, path string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, complaints strings.Builder
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return out.String(), complaints.String(), code
}

// "wanderd plan" and "wanderd sim" behave as before another program carried them out: their output, the names in it,
// and their exit codes.
func TestPlanAndSimAreCarriedOutByWandersim(t *testing.T) {
	t.Parallel()
	wanderd, wandersim := both(t)
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{args: "sim --members 5 --duration 1h", stdout: "5 members for 1h, seed 1\n"},
		{args: "--members 5 sim --duration 1h", stdout: "5 members for 1h, seed 1\n"},
		{args: "sim hunt --seeds 1", stdout: "1 seed, "},
		{
			args: "sim banana", code: 64,
			stderr: "wanderd: unknown command \"banana\" for wanderd sim: it has hunt, list, run, trace\n",
		},
		{args: "sim --memebrs 5", code: 64, stderr: "wanderd: unknown flag --memebrs: did you mean --members?\n"},
		{args: "sim trace lost", stdout: "  "},
		{args: "sim --help", stdout: "Simulate a fleet with faults. The simulation runs "},
		{args: "help sim hunt", stdout: "Look for a seed that breaks a rule of the protocol."},
		{
			args: "sim run wander-stable", code: 64,
			stderr: "wanderd: \"wanderd sim run\" needs the program wanderlab, which is neither in ",
		},
		{
			args:   "plan backups --members 100 --crashed 7%",
			stdout: "100 members in a ring, 7 of them crash: 3 backups.\n",
		},
		{args: "plan --op 1h", code: 64, stderr: "wanderd: "},
		{args: "__complete sim --walk ", stdout: "random\nshuffle\nsweep\n"},
		{args: "__complete sim hu", stdout: "hunt\tLook for a seed"},
		{args: "__complete si", stdout: "sim\tSimulate a fleet"},
	} {
		stdout, stderr, code := call(t, wanderd, strings.Split(c.args, " ")...)
		if code != c.code || !strings.HasPrefix(stdout, c.stdout) || !strings.HasPrefix(stderr, c.stderr) &&
			!strings.HasPrefix(c.args, "__") {
			t.Errorf("wanderd %s: exit code %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
	// A link to wanderd works like wanderd: the other program is found beside the file.
	link := filepath.Join(t.TempDir(), "wanderd")
	if err := os.Symlink(wanderd, link); err != nil {
		t.Fatal(err)
	}
	byLink, _, _ := call(t, link, "sim", "--members", "5", "--duration", "1h", "--json")
	itself, _, _ := call(t, wandersim, "sim", "--members", "5", "--duration", "1h", "--json")
	if byLink == "" || byLink != itself {
		t.Errorf("by way of a link to wanderd:\n%s\nof wandersim itself:\n%s", byLink, itself)
	}
}

func TestPlanAndSimSayWhereWandersimIsToBeHad(t *testing.T) {
	wanderd, wandersim := both(t)
	alone := filepath.Join(t.TempDir(), "wanderd")
	if err := os.Link(wanderd, alone); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "")
	for _, command := range []string{"plan", "sim"} {
		stdout, stderr, code := call(t, alone, command, "--help")
		want := "wanderd: \"wanderd " + command + "\" needs the program wandersim, which is neither in " +
			filepath.Dir(alone) +
			" nor on PATH: take it from the package, or \"go install " +
			"github.com/wanderd/wanderd/cmd/wandersim@latest\"\n"
		if code != 64 || stdout != "" || stderr != want {
			t.Errorf("wanderd %s: exit code %d\n%s%s", command, code, stdout, stderr)
		}
	}
	t.Setenv("PATH", filepath.Dir(wandersim))
	if stdout, stderr, code := call(t, alone, "plan", "--help"); code != 0 || !strings.Contains(stdout, "--every") {
		t.Errorf("from PATH: exit code %d\n%s%s", code, stdout, stderr)
	}
}

// A plan is a file and a command line that wanderd accepts.
func TestAPlanIsAConfiguration(t *testing.T) {
	t.Parallel()
	const hook = "/bin/true"
	wanderd, _ := both(t)
	for _, flags := range [][]string{
		{"--members", "40", "--op", "10m", "--every", "1d"},
		{
			"--members", "60", "--op", "4s", "--every", "15m", "--walk", "random", "--skip", "4s", "--latency", "5ms",
			"--loss", "1%",
		},
	} {
		text, stderr, code := call(t, wanderd, append([]string{"plan", "--json"}, flags...)...)
		if code != 0 {
			t.Fatal(stderr)
		}
		var answer struct {
			TOML, Command string
			Request       struct {
				Every float64 `json:"every_s"`
				Loss  float64 `json:"loss"`
			} `json:"wish"`
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
			out, stderr, code := call(t, wanderd, args...)
			if code != 0 {
				t.Errorf("%v: exit code %d: %s", args, code, stderr)
			}
			checked[i] = out
		}
		if checked[0] != checked[1] || !strings.HasPrefix(checked[0], "ok\n") {
			t.Errorf("the file is\n%s\nand the command line\n%s", checked[0], checked[1])
		}
		if w := answer.Request; w.Every != 86400 && w.Every != 900 || w.Loss != 0 && w.Loss != 0.01 {
			t.Errorf("%v is understood as %+v", flags, w)
		}
	}
}
