// Package hosts_test drills the deb on booted hosts: containers with systemd, on a network of their own. "make hosts"
// makes the deb and runs it; without a deb nothing is tested.
package hosts_test

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var deb = flag.String("deb", "", "the package to install: a pattern that matches one file")

const configuration = `hook = ["/bin/sh", "-c", "echo running as $(id -un); sleep 1"]
min_interval = "4s"
skip = "250ms"
join = ["10.83.0.1", "10.83.0.2", "10.83.0.3"]
`

// install installs the deb on a host, as an operator does.
func install(t *testing.T, h *host) string {
	t.Helper()
	text, err := os.ReadFile(*deb)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(h.root, "root/wanderd.deb"), text, 0o644))
	return h.do(t, "dpkg", "--install", "/root/wanderd.deb")
}

// runs is how many runs have ended well on a host.
func (h *host) runs() int {
	return strings.Count(h.try("journalctl", "--unit=wanderd", "--no-pager", "--output=cat"), "hook ended")
}

// status is the part of a status that the drills ask for.
type status struct {
	Members int `json:"members"`
	Gates   []struct {
		Name    string `json:"name"`
		Members int    `json:"members"`
		Running bool   `json:"running"`
		Holding bool   `json:"holding"`
	} `json:"gates"`
}

// membersOf is how many members a gate has, as a host sees it; 0 if the host has no such gate.
func (h *host) membersOf(gate string) int {
	for _, g := range h.status().Gates {
		if g.Name == gate {
			return g.Members
		}
	}
	return 0
}

func (h *host) status() (s status) {
	_ = json.Unmarshal([]byte(h.try("wanderd", "status", "--json")), &s)
	return s
}

func TestBootedHosts(t *testing.T) {
	needs(t)
	fleet := boot(t, newNetwork(t), 3)
	for _, drill := range []struct {
		name string
		do   func(*testing.T)
	}{
		{"installation", func(t *testing.T) { drillInstallation(t, fleet) }},
		{"first start", func(t *testing.T) { drillFirstStart(t, fleet) }},
		{"journal", func(t *testing.T) { drillJournal(t, fleet[0]) }},
		{"watchdog", func(t *testing.T) { drillWatchdog(t, fleet[0]) }},
		{"kill -9", func(t *testing.T) { drillKill(t, fleet[1]) }},
		{"metrics", func(t *testing.T) { drillMetrics(t, fleet[0]) }},
		{"reload", func(t *testing.T) { drillReload(t, fleet) }},
		{"drain", func(t *testing.T) { drillDrain(t, fleet[1]) }},
		{"another user", func(t *testing.T) { drillUser(t, fleet[1]) }},
		{"gate reset", func(t *testing.T) { drillReset(t, fleet[1]) }},
		{"check", func(t *testing.T) { drillCheck(t, fleet[1]) }},
		{"upgrade", func(t *testing.T) { drillUpgrade(t, fleet) }},
		{"reboot", func(t *testing.T) { drillReboot(t, fleet[1]) }},
		{"FleetLock", func(t *testing.T) { drillFleetLock(t, fleet) }},
		{"stop", func(t *testing.T) { drillStop(t, fleet) }},
		{"removal", func(t *testing.T) { drillRemoval(t, fleet[2]) }},
	} {
		if !t.Run(drill.name, drill.do) {
			return // The next ones would wait in vain.
		}
	}
}

func drillInstallation(t *testing.T, fleet []*host) {
	for _, h := range fleet {
		if said := install(t, h); !strings.Contains(said, "wanderd keygen --secret") {
			t.Errorf("the installation does not say what to do next: %s", said)
		}
		if active := h.try("systemctl", "is-active", "wanderd"); strings.TrimSpace(active) != "inactive" {
			t.Errorf("%s is %s after the installation", h.name, active)
		}
		h.write(t, "/etc/wanderd/wanderd.toml", configuration)
		if said := h.do(t, "wanderd", "sim", "--members", "3", "--duration", "1m"); !strings.HasPrefix(said,
			"3 members for 1m") {
			t.Errorf("wandersim is not there, or not found by wanderd: %s", said)
		}
	}
}

// Without a secret the service reports that, once, and waits; it starts when the file is there.
func drillFirstStart(t *testing.T, fleet []*host) {
	for _, h := range fleet {
		h.try("systemctl", "enable", "--now", "wanderd")
		if !soon(func() bool { return strings.Contains(h.try("systemctl", "is-active", "wanderd"), "failed") }) {
			t.Fatalf("%s without a secret: %s", h.name, h.log())
		}
		if log := h.log(); strings.Count(log, "wanderd keygen --secret") != 1 {
			t.Errorf("%s does not say what to do, once: %s", h.name, log)
		}
	}
	fleet[0].do(t, "wanderd", "keygen", "--secret", "/etc/wanderd/fleet-secret")
	secret, err := os.ReadFile(filepath.Join(fleet[0].root, "etc/wanderd/fleet-secret"))
	must(t, err)
	for _, h := range fleet[1:] {
		must(t, os.WriteFile(filepath.Join(h.root, "etc/wanderd/fleet-secret"), secret, 0o600))
	}
	for _, h := range fleet {
		if !soon(func() bool { return h.status().Members == len(fleet) && h.runs() > 0 }) {
			t.Fatalf("%s: no fleet of %d, or no run: %+v\n%s", h.name, len(fleet), h.status(), h.log())
		}
	}
	if log := fleet[0].log(); !strings.Contains(log, "running as wanderd") {
		t.Errorf("hooks do not run as wanderd: %s", log)
	}
}

// The log has fields of its own in the journal.
func drillJournal(t *testing.T, h *host) {
	var entry map[string]any
	for line := range strings.Lines(h.do(t, "journalctl", "--unit=wanderd", "--output=json", "--no-pager",
		"--lines=50")) {
		entry = nil
		must(t, json.Unmarshal([]byte(line), &entry))
		if entry["GATE"] == "default" && entry["PRIORITY"] == "6" {
			return
		}
	}
	t.Errorf("no entry of the gate: the last is %v", entry)
}

// An agent that hangs is killed by the watchdog, and starts again.
func drillWatchdog(t *testing.T, h *host) {
	before := h.pid()
	h.do(t, "kill", "-STOP", strconv.Itoa(before))
	if !soon(func() bool { pid := h.pid(); return pid != 0 && pid != before && h.status().Members == 3 }) {
		t.Errorf("a hanging agent was not started again: %s", h.log())
	}
	if h.restarts() == "0" {
		t.Error("systemd knows of no restart")
	}
}

// A killed agent's hook is gone before the agent is back, and the fleet goes on.
func drillKill(t *testing.T, h *host) {
	if !soon(func() bool { gates := h.status().Gates; return len(gates) > 0 && gates[0].Running }) {
		t.Fatalf("%s never runs: %s", h.name, h.log())
	}
	before, runs := h.pid(), h.runs()
	h.do(t, "kill", "-KILL", strconv.Itoa(before))
	if !soon(func() bool { pid := h.pid(); return pid != 0 && pid != before && h.runs() > runs }) {
		t.Errorf("after a kill %s does not run again: %s", h.name, h.log())
	}
}

// The metrics are on the control socket.
func drillMetrics(t *testing.T, h *host) {
	socket := filepath.Join(h.root, "var/lib/wanderd/wanderd.sock")
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn,
		error,
	) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	answer, err := client.Get("http://wanderd/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(text), "wanderd_runs_total{") {
		t.Errorf("%s, %v\n%s", answer.Status, err, text)
	}
}

// twoGates is a configuration with one gate more than the first one has.
const twoGates = `min_interval = "4s"
skip = "250ms"
join = ["10.83.0.1", "10.83.0.2", "10.83.0.3"]
[[gate]]
name = "default"
hook = ["/bin/sh", "-c", "echo another hook"]
[[gate]]
name = "more"
hook = ["/bin/sh", "-c", "echo one gate more"]
`

// "systemctl reload" changes hooks, adds gates and removes them, and keeps the process; a wrong file changes nothing,
// and the reason is in the journal.
func drillReload(t *testing.T, fleet []*host) {
	before := fleet[0].pid()
	fleet[0].write(t, "/etc/wanderd/wanderd.toml", "hoook = 1\n"+configuration)
	if fleet[0].command("systemctl", "reload", "wanderd").Run() == nil {
		t.Error("systemctl likes a wrong file")
	}
	if log := fleet[0].log(); !strings.Contains(log, "wanderd.toml:1: unknown key") {
		t.Errorf("the log does not say what is wrong: %s", log)
	}
	for _, h := range fleet {
		h.write(t, "/etc/wanderd/wanderd.toml", twoGates)
		h.do(t, "systemctl", "reload", "wanderd")
	}
	for _, h := range fleet {
		if !soon(func() bool {
			log := h.try("journalctl", "--unit=wanderd", "--no-pager", "--output=cat")
			return strings.Contains(log, "another hook") && strings.Contains(log, "one gate more") &&
				h.membersOf("more") == len(fleet)
		}) {
			t.Errorf("%s has not the new hook, or not the new gate: %s", h.name, h.log())
		}
	}
	for _, h := range fleet {
		h.write(t, "/etc/wanderd/wanderd.toml", configuration)
		h.do(t, "systemctl", "reload", "wanderd")
	}
	if !soon(func() bool { return fleet[0].membersOf("more") == 0 && fleet[0].membersOf("default") == len(fleet) }) {
		t.Errorf("the gate does not go: %s", fleet[0].log())
	}
	if now := fleet[0].pid(); now != before || now == 0 {
		t.Errorf("the agent was process %d, and is %d", before, now)
	}
}

// With stop = "drain", "systemctl stop" waits for the hook.
func drillDrain(t *testing.T, h *host) {
	h.write(t, "/etc/wanderd/wanderd.toml", strings.Replace("stop = \"drain\"\nhook_timeout = \"1m\"\n"+configuration,
		"sleep 1", "sleep 5; echo to its end", 1))
	h.do(t, "systemctl", "reload", "wanderd")
	ended := func() int {
		return strings.Count(h.try("journalctl", "--unit=wanderd", "--no-pager", "--output=cat"), "to its end gate=")
	}
	before := 0
	if !soon(func() bool {
		before = ended()
		gates := h.status().Gates
		return before > 0 && len(gates) > 0 && gates[0].Running
	}) {
		t.Fatalf("%s never runs: %s", h.name, h.log())
	}
	h.do(t, "systemctl", "stop", "wanderd")
	if ended() <= before {
		t.Errorf("the stop has cut the hook short: %s", h.log())
	}
	h.write(t, "/etc/wanderd/wanderd.toml", configuration)
	h.do(t, "systemctl", "start", "wanderd")
	if !soon(func() bool { return h.status().Members == 3 }) {
		t.Errorf("%s is not back: %s", h.name, h.log())
	}
}

// A service that gets another user by a drop-in, and is restarted, stops the agent of the former user in good order:
// with stop = "drain" its hook ends by itself.
func drillUser(t *testing.T, h *host) {
	h.write(t, "/etc/wanderd/wanderd.toml", strings.Replace("stop = \"drain\"\nhook_timeout = \"1m\"\n"+configuration,
		"sleep 1", "sleep 5; echo to the last line", 1))
	h.do(t, "systemctl", "reload", "wanderd")
	ended := func() int {
		return strings.Count(h.try("journalctl", "--unit=wanderd", "--no-pager", "--output=cat"),
			"to the last line gate=")
	}
	before := 0
	if !soon(func() bool {
		before = ended()
		gates := h.status().Gates
		return before > 0 && len(gates) > 0 && gates[0].Running
	}) {
		t.Fatalf("%s never runs: %s", h.name, h.log())
	}
	must(t, os.MkdirAll(filepath.Join(h.root, "etc/systemd/system/wanderd.service.d"), 0o755))
	h.write(t, "/etc/systemd/system/wanderd.service.d/user.conf", "[Service]\nUser=daemon\nGroup=daemon\n")
	h.do(t, "systemctl", "daemon-reload")
	h.do(t, "systemctl", "restart", "wanderd")
	if ended() <= before {
		t.Errorf("the agent of the former user was not stopped in order: %s", h.log())
	}
	if !soon(func() bool { return strings.Contains(h.log(), "running as daemon") }) {
		t.Errorf("it does not run as its new user: %s", h.log())
	}
	h.do(t, "systemctl", "stop", "wanderd")
	h.write(t, "/etc/wanderd/wanderd.toml", configuration)
	must(t, os.Remove(filepath.Join(h.root, "etc/systemd/system/wanderd.service.d/user.conf")))
	h.do(t, "systemctl", "daemon-reload")
	h.do(t, "systemctl", "start", "wanderd")
	if !soon(func() bool { return h.status().Members == 3 }) {
		t.Errorf("%s is not back: %s", h.name, h.log())
	}
}

// Root resets a gate in the directory of the agent's user, which keeps its files.
func drillReset(t *testing.T, h *host) {
	h.do(t, "systemctl", "stop", "wanderd")
	if said := h.do(t, "wanderd", "gate", "reset", "default", "--all-stopped"); !strings.Contains(said,
		"forgot the fencing number") {
		t.Errorf("the reset says %s", said)
	}
	if root := h.do(t, "find", "/var/lib/wanderd", "-user", "root"); root != "" {
		t.Errorf("root has files in the state directory: %s", root)
	}
	h.do(t, "systemctl", "start", "wanderd")
}

// A host that is well reports that, and one whose agent is stopped does not.
func drillCheck(t *testing.T, h *host) {
	if !soon(func() bool { return h.command("wanderd", "status", "--check").Run() == nil }) {
		t.Errorf("%s: %s", h.try("wanderd", "status", "--check"), h.log())
	}
	h.do(t, "systemctl", "stop", "wanderd")
	if code := h.command("wanderd", "status", "--check"); code.Run() == nil || code.ProcessState.ExitCode() != 2 {
		t.Errorf("without an agent a check exits with %d", code.ProcessState.ExitCode())
	}
	h.do(t, "systemctl", "start", "wanderd")
	if !soon(func() bool { return h.status().Members == 3 }) {
		t.Errorf("%s is not back: %s", h.name, h.log())
	}
}

// Hosts are upgraded one by one while the fleet is at work: none loses a secret, a state or a place.
func drillUpgrade(t *testing.T, fleet []*host) {
	for _, h := range fleet {
		before, runs := h.pid(), h.runs()
		if said := install(t, h); strings.Contains(said, "wanderd keygen --secret") {
			t.Errorf("an upgrade explains the first steps: %s", said)
		}
		if !soon(func() bool {
			pid := h.pid()
			return pid != 0 && pid != before && h.status().Members == len(fleet) && h.runs() > runs
		}) {
			t.Errorf("%s after the upgrade: %s", h.name, h.log())
		}
		if h.do(t, "cat", "/etc/wanderd/wanderd.toml") != configuration {
			t.Errorf("the upgrade has changed %s's configuration", h.name)
		}
	}
}

// reboots is a gate whose hook ends with a reboot of its host. The reboot stops the agent, and the agent stops the
// hook.
const reboots = `min_interval = "30m"
retry_after = "5s"
alone = "run"
skip = "250ms"
[[gate]]
name = "reboots"
hook = ["/bin/sh", "-c", "echo >>/var/lib/wanderd/reboots; systemctl reboot; sleep 600"]
`

// A hook that reboots its host does so once, and not for ever.
func drillReboot(t *testing.T, h *host) {
	// Only root may reboot.
	must(t, os.MkdirAll(filepath.Join(h.root, "etc/systemd/system/wanderd.service.d"), 0o755))
	h.do(t, "systemctl", "stop", "wanderd")
	h.write(t, "/etc/systemd/system/wanderd.service.d/root.conf", "[Service]\nUser=root\nGroup=root\n")
	h.write(t, "/etc/wanderd/wanderd.toml", reboots)
	h.do(t, "systemctl", "daemon-reload")
	h.do(t, "systemctl", "start", "--no-block", "wanderd")
	h.wantsReboot(t)
	if !h.powerOn(t) || !soon(func() bool { return h.status().Members > 0 }) {
		t.Fatalf("%s is not back: %s", h.name, h.log())
	}
	time.Sleep(15 * time.Second) // more than retry_after
	boots, err := os.ReadFile(filepath.Join(h.root, "var/lib/wanderd/reboots"))
	if log := h.journal(); err != nil || len(boots) != 1 || !strings.Contains(log, "it counts") {
		t.Fatalf("the hook of %s has run %d times, %v: %s", h.name, len(boots), err, lastLines([]byte(log), 40))
	}
	must(t, os.Remove(filepath.Join(h.root, "etc/systemd/system/wanderd.service.d/root.conf")))
	h.do(t, "systemctl", "stop", "wanderd")
	h.write(t, "/etc/wanderd/wanderd.toml", configuration)
	h.do(t, "systemctl", "daemon-reload")
	h.do(t, "systemctl", "start", "wanderd")
	if !soon(func() bool { return h.status().Members == 3 }) {
		t.Errorf("%s is not back in the fleet: %s", h.name, h.log())
	}
}

// A stopped agent passes its token on: the others run without a pause.
func drillStop(t *testing.T, fleet []*host) {
	h := fleet[0]
	h.do(t, "systemctl", "stop", "wanderd")
	if log := h.log(); !strings.Contains(log, "wanderd.service: Deactivated successfully") {
		t.Errorf("the stop was not in order: %s", log)
	}
	other := fleet[1]
	if runs := other.runs(); !soon(func() bool {
		return other.status().Members == len(fleet)-1 &&
			other.runs() > runs
	}) {
		t.Errorf("the others do not go on: %s", other.log())
	}
}

// A removal keeps the secret and the state, a purge does not.
func drillRemoval(t *testing.T, h *host) {
	h.do(t, "dpkg", "--remove", "wanderd")
	if h.pid() != 0 || h.has("/usr/bin/wanderd") {
		t.Error("after its removal the agent is still there")
	}
	if !h.has("/etc/wanderd/fleet-secret") || !h.has("/var/lib/wanderd/node_key") {
		t.Error("the removal has taken the secret or the state")
	}
	h.do(t, "dpkg", "--purge", "wanderd")
	if h.has("/etc/wanderd") || h.has("/var/lib/wanderd") {
		t.Error("the purge has left the secret or the state")
	}
}
