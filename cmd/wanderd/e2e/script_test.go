package e2e

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A script without a terminal may have stopped a process of its own. The end of a command does not end the script, just
// as that of "flock FILE true" does not.
func TestAStoppedProcessBesideACommandHarmsNobody(t *testing.T) {
	t.Parallel()
	n := alone(t)
	for _, command := range []string{"true", "sh -c 'kill -TERM $$'"} {
		script := exec.Command("setsid", "sh", "-c", `trap 'echo "a hangup"' HUP
			sleep 600 & stopped=$!
			kill -STOP $stopped
			"$0" exec --state-dir "$1" -- `+command+`
			echo "status $?"
			kill -KILL $stopped`, program(t), n.state)
		said, err := script.CombinedOutput()
		want := map[bool]string{true: "status 0", false: "status 143"}[command == "true"]
		if text := strings.TrimSpace(string(said)); err != nil || !strings.HasSuffix(text, want) ||
			strings.Contains(text, "hangup") {
			t.Errorf("%s: %q, %v", command, text, err)
		}
	}
}

// In a script without a terminal, too, a signal to its group reaches the command once, and so does one to the caller.
func TestASignalReachesACommandOfAScriptOnce(t *testing.T) {
	t.Parallel()
	n := alone(t)
	for _, to := range []string{"-$$", "$caller"} {
		script := exec.Command("setsid", "sh", "-c", `trap : USR1
			"$0" exec --state-dir "$1" -- \
				sh -c 'trap "echo a signal" USR1; echo ready; while ! [ -e "$0" ]; do sleep 0.05; done' "$2" &
			caller=$!
			read _
			while [ "$(ps -o pgid= -p $caller | tr -d ' ')" = $$ ]; do sleep 0.05; done
			kill -USR1 `+to+`
			sleep 1
			: >"$2"
			wait $caller; wait $caller`, program(t), n.state, filepath.Join(t.TempDir(), "end"))
		in, err := script.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := script.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := script.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("%q", lines.Text())
		}
		_, _ = io.WriteString(in, "go\n")
		var heard []string
		for lines.Scan() {
			heard = append(heard, lines.Text())
		}
		if err := script.Wait(); err != nil || len(heard) != 1 || heard[0] != "a signal" {
			t.Errorf("to %s: %q, %v", to, heard, err)
		}
	}
}
