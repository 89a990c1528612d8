package hosts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// keptFor is how long the others wait for a host in these drills: several times as long as a host needs for a reboot.
const keptFor = 25 * time.Second

// Five hosts reboot by the recipe in examples/reboot, soft and strict. One loses its power meanwhile, and stays away;
// one is not healthy afterwards.
func TestFiveHostsRebootInTurn(t *testing.T) {
	needs(t)
	fleet := boot(t, newNetwork(t), 5)
	together(fleet, func(h *host) { install(t, h) })
	fleet[0].do(t, "wanderd", "keygen", "--secret", "/etc/wanderd/fleet-secret")
	secret, err := os.ReadFile(filepath.Join(fleet[0].root, "etc/wanderd/fleet-secret"))
	must(t, err)
	together(fleet, func(h *host) {
		must(t, os.WriteFile(filepath.Join(h.root, "etc/wanderd/fleet-secret"), secret, 0o600))
		must(t, os.MkdirAll(filepath.Join(h.root, "etc/systemd/system/wanderd.service.d"), 0o755))
		h.write(t, "/etc/systemd/system/wanderd.service.d/root.conf", "[Service]\nUser=root\nGroup=root\n")
		command(t, "cp", "../../examples/reboot/needs-reboot.sh", filepath.Join(h.root, "usr/local/bin"))
		h.write(t, "/usr/local/bin/tell", "#!/bin/sh\ncat >>/var/lib/wanderd/told\n")
		must(t, os.Chmod(filepath.Join(h.root, "usr/local/bin/tell"), 0o755))
		h.do(t, "systemctl", "daemon-reload")
		h.do(t, "systemctl", "enable", "wanderd")
	})
	j := judged(t, fleet)
	t.Run("soft", func(t *testing.T) { drillFive(t, j) })
	if !t.Failed() {
		t.Run("one stays away in a strict gate", func(t *testing.T) { drillStaysAway(t, j) })
	}
	if !t.Failed() {
		t.Run("the gate stands still", func(t *testing.T) { drillStandsStill(t, j) })
	}
}

// recipe is examples/reboot/wanderd.toml for these hosts: other addresses and times, no window, and lines instead of
// its max_down.
func recipe(t *testing.T, strict bool, lines string) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/reboot/wanderd.toml")
	must(t, err)
	made := string(text)
	for _, change := range [][2]string{
		{`"web1", "web2", "web3"`, `"10.83.0.1", "10.83.0.2", "10.83.0.3"`},
		{`secret_file = "/etc/wanderd/secret"`, `on_event = ["/usr/local/bin/tell"]`},
		{`keep = "15m"`, `keep = "` + keptFor.String() + `"`},
		{`min_interval = "6h"`, `min_interval = "5s"`},
		{`window = ["22:00-05:00"]`, ``},
		{`max_down = 1`, lines},
	} {
		if !strings.Contains(made, change[0]) {
			t.Fatalf("the recipe has no %s", change[0])
		}
		made = strings.Replace(made, change[0], change[1], 1)
	}
	if strict {
		made = strings.NewReplacer("# policy", "policy", "# roster", "roster", `"web`, `"host`).Replace(made)
	}
	return made
}

// starts starts a fleet with a configuration and without any state. All hosts that it names need a reboot.
func starts(t *testing.T, fleet, need []*host, configuration string) {
	t.Helper()
	together(fleet, func(h *host) {
		h.do(t, "systemctl", "stop", "wanderd")
		h.do(t, "sh", "-c", "rm -rf /var/lib/wanderd/* /run/reboot-required")
		h.write(t, "/etc/wanderd/wanderd.toml", configuration)
	})
	together(need, func(h *host) { h.do(t, "touch", "/run/reboot-required") })
	together(fleet, func(h *host) { h.do(t, "systemctl", "start", "--no-block", "wanderd") })
}

// hasRebooted reports whether the history of a host has one run, through a reboot.
func (h *host) hasRebooted(gate string) bool {
	said := h.wanderd("history", "--gate", gate)
	return strings.Count(said, "rebooted") == 1 && strings.HasPrefix(said, "gate "+gate+": 1 run\n")
}

// allReboot waits until these hosts have rebooted.
func allReboot(t *testing.T, j *judge, fleet []*host, gate string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Second) {
		left := slices.DeleteFunc(slices.Clone(fleet), func(h *host) bool { return h.hasRebooted(gate) })
		switch {
		case len(left) == 0:
			j.says(t)
			return
		case time.Now().After(end):
			t.Fatalf("%s has not rebooted: %s\n%s", left[0].name, left[0].wanderd("history"), left[0].tail())
		}
	}
}

// All hosts reboot, one after the other.
func drillFive(t *testing.T, j *judge) {
	j.begins(false)
	starts(t, j.fleet, j.fleet, recipe(t, false, "max_down = 1"))
	allReboot(t, j, j.fleet, "reboot")
	if went := j.downs(); len(went) != len(j.fleet) {
		t.Errorf("hosts went down %d times, want %d", len(went), len(j.fleet))
	}
}

// The first host that goes down loses its power, and stays away. The others wait for it for as long as its grant is
// kept, and then reboot one after the other. The host that comes back late says so, and runs nothing.
func drillStaysAway(t *testing.T, j *judge) {
	j.begins(true)
	starts(t, j.fleet, j.fleet, recipe(t, true, `keep_over = "give-up"`))
	lost, others := j.loses(t)
	allReboot(t, j, others, "reboot")
	if waited := j.downs()[1].at.Sub(j.downs()[0].at); waited < keptFor/2 {
		t.Errorf("the next host went down after %v", waited)
	}
	if !slices.ContainsFunc(others, func(h *host) bool { return h.wasTold("host-lost", lost.name) }) {
		t.Errorf("nobody tells that %s has stayed away", lost.name)
	}
	comesBackLate(t, j, lost)
}

// With keep_over = "stand-still" nobody goes down until an operator resumes the gate, and with max_down not before the
// host that stays away is forgotten. The next host is not healthy after its reboot, and the brake holds the rest.
func drillStandsStill(t *testing.T, j *judge) {
	j.begins(true)
	starts(t, j.fleet, j.fleet, recipe(t, false, `keep_over = "stand-still"
max_down = 1
after = ["test", "-e", "/etc/healthy"]
after_every = "1s"
stop_after = 1`))
	lost, others := j.loses(t)
	paused := func() (reason string) {
		for _, h := range others {
			if reason = h.reason(); reason == "" {
				return ""
			}
		}
		return reason
	}
	if !within(2*keptFor, func() bool { return strings.Contains(paused(), lost.name) }) {
		t.Fatalf("the gate is not paused because of %s: %q: %s", lost.name, paused(), others[0].tail())
	}
	time.Sleep(keptFor / 4)
	if went := j.downs(); len(went) != 1 {
		t.Fatalf("%s went down in a gate that stands still", went[1].name)
	}
	t.Log(others[0].wanderd("resume", "--gate", "reboot"))
	counted := func() bool { return strings.Contains(others[1].wanderd("status"), lost.name+" (failed)") }
	if !within(time.Minute, counted) {
		t.Fatalf("%s is not counted as down: %s", lost.name, others[1].wanderd("status"))
	}
	if went := j.downs(); len(went) != 1 {
		t.Fatalf("%s went down while %s is down", went[1].name, lost.name)
	}
	t.Log(others[1].wanderd("members", "forget", lost.name))
	if !within(time.Minute, func() bool { return len(j.downs()) == 2 }) {
		t.Fatalf("nobody goes down although %s is forgotten: %s", lost.name, others[0].tail())
	}
	sick := j.downs()[1].host
	if !within(time.Minute, func() bool { return strings.Contains(paused(), sick.name) }) {
		t.Fatalf("%s is not healthy, and the gate is not paused: %q: %s", sick.name, paused(), sick.tail())
	}
	time.Sleep(keptFor / 4)
	if went := j.downs(); len(went) != 2 {
		t.Errorf("%s went down although %s is not healthy", went[2].name, sick.name)
	}
	if said := sick.wanderd("history", "--gate", "reboot"); !strings.Contains(said, "rebooted") ||
		!strings.Contains(said, "unhealthy: after said: exit status 1") {
		t.Errorf("the history of %s: %s", sick.name, said)
	}
	j.says(t)
	comesBackLate(t, j, lost)
}

// loses waits until the first host goes down, which loses its power then.
func (j *judge) loses(t *testing.T) (lost *host, others []*host) {
	t.Helper()
	if !within(2*time.Minute, func() bool { return len(j.downs()) > 0 }) {
		t.Fatalf("nobody reboots: %s", j.fleet[0].tail())
	}
	lost = j.downs()[0].host
	return lost, slices.DeleteFunc(slices.Clone(j.fleet), func(h *host) bool { return h == lost })
}

// comesBackLate gives a host its power back.
func comesBackLate(t *testing.T, j *judge, lost *host) {
	t.Helper()
	before := len(j.downs())
	if !lost.powerOn(t) || !soon(func() bool {
		return strings.Contains(lost.journal(), "this host was away for longer than its grant was kept")
	}) {
		t.Fatalf("%s does not know that it was away for too long: %s", lost.name, lost.tail())
	}
	time.Sleep(keptFor / 8)
	if went := j.downs(); len(went) != before {
		t.Errorf("%s goes down", went[before].name)
	}
}

// reason is why the gate is paused; empty if it is not.
func (h *host) reason() string {
	var s struct {
		Gates []struct {
			Paused struct {
				Reason string `json:"reason"`
			} `json:"paused"`
		} `json:"gates"`
	}
	if json.Unmarshal([]byte(h.wanderd("status", "--json")), &s) != nil || len(s.Gates) != 1 {
		return ""
	}
	return s.Gates[0].Paused.Reason
}

// wasTold reports whether an event of this kind, about that host, was told on this host.
func (h *host) wasTold(kind, peer string) bool {
	text, _ := os.ReadFile(filepath.Join(h.root, "var/lib/wanderd/told"))
	return strings.Contains(string(text), `"event":"`+kind+`"`) && strings.Contains(string(text), `"peer":"`+peer+`"`)
}

// together does something with each host at once.
func together(fleet []*host, do func(*host)) {
	var working sync.WaitGroup
	for _, h := range fleet {
		working.Go(func() { do(h) })
	}
	working.Wait()
}
