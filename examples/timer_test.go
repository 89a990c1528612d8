package examples_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
)

const (
	timerUnit   = "timer/backup.service"
	timerDropIn = "timer/gated.conf"
)

func TestTheUnitsOfThreeHostsRunOneAtATime(t *testing.T) {
	deep.Only(t, "a fleet of real agents")
	t.Parallel()
	out := mustRun(t, []string{"WANDERD=" + build(t, "../cmd/wanderd")}, "timer/run.sh", "2")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if got := lines[len(lines)-1]; got != "6 backups, 0 collisions" {
		t.Errorf("%s", out)
	}
	for _, host := range []string{"host1 ", "host2 ", "host3 "} {
		if strings.Count(out, host) != 2 {
			t.Errorf("%sdid not have its two backups under a number:\n%s", host, out)
		}
	}
}

func TestABackupThatIsNotAloneIsNoticed(t *testing.T) {
	t.Parallel()
	to := t.TempDir()
	if err := os.Mkdir(to+"/busy", 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := script(t, []string{"BACKUP_TO=" + to}, "timer/backup.sh"); err == nil {
		t.Errorf("it has not failed: %s", out)
	}
	wantContent(t, to+"/collisions", "nobody comes while another one is at work\n")
}

// The README shows the drop-in as it is, and it is three lines.
func TestTheReadmeHasTheDropIn(t *testing.T) {
	t.Parallel()
	dropIn, err := os.ReadFile(timerDropIn)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("timer/README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := strings.CutPrefix(string(dropIn), "[Service]\n")
	indented := "    " + strings.ReplaceAll(strings.TrimSpace(string(dropIn)), "\n", "\n    ") + "\n"
	if strings.Count(text, "\n") != 3 || !strings.Contains(string(readme), indented) {
		t.Errorf("%q", dropIn)
	}
}

// systemd understands the unit with its drop-in, and takes 75 for a success.
func TestSystemdUnderstandsTheGatedUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no systemd-analyze here")
	}
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/backup.service.d", 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		timerUnit: "backup.service", timerDropIn: "backup.service.d/gated.conf", "timer/backup.timer": "backup.timer",
	} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		// The programs are not installed here.
		text = []byte(strings.NewReplacer("/usr/bin/wanderd", "/bin/true", "/usr/local/bin/backup.sh", "/bin/true").
			Replace(string(text)))
		if err := os.WriteFile(filepath.Join(dir, to), text, fs.FileMode(0o600)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", dir+"/backup.service",
		dir+"/backup.timer").CombinedOutput()
	if err != nil || strings.Contains(string(out), dir) {
		t.Errorf("%v\n%s", err, out)
	}
}
