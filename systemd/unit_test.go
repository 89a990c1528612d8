// Package systemd_test checks the unit and the configuration that an operator installs.
package systemd_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// maxExposure is the highest allowed result of "systemd-analyze security", in tenths: "OK" ends at 4.9, a bare service
// has 9.6.
const maxExposure = 20

// unit is the directives of the service, a list for each "Section.Key".
func unit(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("wanderd.service")
	if err != nil {
		t.Fatal(err)
	}
	directives, section := map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
		} else if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			directives[section+"."+key] = append(directives[section+"."+key], value)
		}
	}
	return directives
}

func TestTheServiceManagerIsToldWhatTheAgentNeeds(t *testing.T) {
	directives := unit(t)
	for key, want := range map[string]string{
		"Service.Type":                     "notify",
		"Service.ExecReload":               "/usr/bin/wanderd reload --config /etc/wanderd/wanderd.toml",
		"Service.Restart":                  "on-failure",
		"Service.RestartPreventExitStatus": "64 78",
		"Service.KillMode":                 "control-group",
		"Service.OOMPolicy":                "continue",
		"Service.Delegate":                 "yes",
		"Service.StateDirectory":           "wanderd",
		"Service.StateDirectoryMode":       "0700",
		"Service.User":                     "wanderd",
	} {
		if got := directives[key]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	// TERM to all processes would end a hook for which the agent waits.
	stop := strings.Join(directives["Service.ExecStop"], " ")
	if !strings.Contains(stop, "kill -TERM ${MAINPID};") {
		t.Errorf("ExecStop is %q: a stop does not tell the agent alone", stop)
	}
	// With another User= in a drop-in, the stop of the agent that still runs would be a command of the new user.
	if !strings.HasPrefix(stop, "+") {
		t.Errorf("ExecStop is %q: it cannot stop the agent of another user", stop)
	}
	if watchdog := seconds(t, directives["Service.WatchdogSec"]); watchdog < 10*time.Second {
		t.Errorf("a watchdog of %v bites a busy host", watchdog)
	}
}

// A killed agent leaves its hook to a guard. The guard must not be killed with it, and must be able to make control
// groups.
func TestTheGuardOfAHookHasTimeToEndIt(t *testing.T) {
	directives := unit(t)
	if got := directives["Service.ProtectControlGroups"]; len(got) > 0 {
		t.Errorf("ProtectControlGroups is %q: the guard cannot make a group for its hook", got)
	}
	// A tenth of the longest reasonable skip. KillMode=mixed would kill at once.
	const duty = time.Second
	if got := seconds(t, directives["Service.TimeoutStopSec"]); got < duty {
		t.Errorf("TimeoutStopSec is %v: it leaves the guard no time", got)
	}
}

func TestTheSecretReachesTheAgentAsACredential(t *testing.T) {
	directives := unit(t)
	name, _, _ := strings.Cut(strings.Join(directives["Service.LoadCredential"], " "), ":")
	if want := "--secret-file ${CREDENTIALS_DIRECTORY}/" + name; name == "" ||
		!strings.Contains(execStart(directives), want) {
		t.Errorf("ExecStart is %q, want it to have %q", execStart(directives), want)
	}
}

func TestSystemdUnderstandsEveryDirective(t *testing.T) {
	out, err := analyze(t, "verify", "--man=no")
	if err != nil || strings.Contains(out, "wanderd.service") { // A host may have other units with problems.
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestTheServiceIsHardened(t *testing.T) {
	if out, err := analyze(t, "security", "--offline=true", "--no-pager", "--threshold="+
		strconv.Itoa(maxExposure)); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

// analyze runs systemd-analyze on a copy of the unit that starts an existing program.
func analyze(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	program, err := exec.LookPath("systemd-analyze")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no systemd-analyze here")
	}
	if version, _ := exec.CommandContext(t.Context(), program, "--version").Output(); !understandsOffline(version) {
		t.Skipf("this systemd-analyze is too old: %.20s", version)
	}
	text, err := os.ReadFile("wanderd.service")
	if err != nil {
		t.Fatal(err)
	}
	there, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	agent, _, _ := strings.Cut(execStart(unit(t)), " ")
	changed := bytes.ReplaceAll(text, []byte("="+agent+" "), []byte("="+there+" "))
	file := filepath.Join(t.TempDir(), "wanderd.service")
	if err := os.WriteFile(file, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, append(args, file)...).CombinedOutput()
	return string(out), err
}

// understandsOffline reports whether the first line, "systemd 252 (…)", names a version that can check a file.
func understandsOffline(version []byte) bool {
	fields := bytes.Fields(version)
	if len(fields) < 2 {
		return false
	}
	number, err := strconv.Atoi(string(fields[1]))
	return err == nil && number >= 250
}

func execStart(directives map[string][]string) string {
	return strings.Join(directives["Service.ExecStart"], " ")
}

func seconds(t *testing.T, values []string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(strings.Join(values, " "))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Without a secret the service ends with a message and status 78, which systemd does not restart; it starts when the
// file is there.
func TestTheServiceWaitsForItsSecret(t *testing.T) {
	directives := unit(t)
	if got := directives["Service.SetCredential"]; len(got) != 1 || got[0] != `fleet-secret:\n` {
		t.Errorf("without the file, the credential is %q, want an empty one", got)
	}
	if got := directives["Unit.Wants"]; len(got) != 1 || !strings.Contains(got[0], "wanderd.path") {
		t.Errorf("the service brings %q", got)
	}
	path, err := os.ReadFile("wanderd.path")
	if err != nil {
		t.Fatal(err)
	}
	_, file, _ := strings.Cut(directives["Service.LoadCredential"][0], ":")
	if !strings.Contains(string(path), "\nPathChanged="+file+"\n") {
		t.Errorf("wanderd.path does not watch %s", file)
	}
}
