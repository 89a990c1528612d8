package hosts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rebootsInTurn is a strict gate whose grants outlive its hosts, and whose hook reboots them.
const rebootsInTurn = `join = ["10.83.0.1", "10.83.0.2", "10.83.0.3"]
[[gate]]
name = "turns"
policy = "tree"
roster = ["host1", "host2", "host3"]
hook = ["systemctl", "reboot"]
keep = "90s"
min_interval = "30m"
`

// Three hosts reboot, one after the other: none goes down before the one before it is up, and has handed its grant
// back.
func drillRebootsInTurn(t *testing.T, fleet []*host) {
	for _, h := range fleet {
		h.do(t, "systemctl", "stop", "wanderd")
		must(t, os.MkdirAll(filepath.Join(h.root, "etc/systemd/system/wanderd.service.d"), 0o755))
		h.write(t, "/etc/systemd/system/wanderd.service.d/root.conf", "[Service]\nUser=root\nGroup=root\n")
		h.write(t, "/etc/wanderd/wanderd.toml", rebootsInTurn)
		h.do(t, "systemctl", "daemon-reload")
		h.do(t, "systemctl", "start", "--no-block", "wanderd")
	}
	goDownInTurn(t, fleet, "turns")
	for _, h := range fleet {
		h.do(t, "systemctl", "stop", "wanderd")
		must(t, os.Remove(filepath.Join(h.root, "etc/systemd/system/wanderd.service.d/root.conf")))
	}
	asBefore(t, fleet)
}

// locksInTurn is such a gate for programs that ask before they reboot a host.
const locksInTurn = `join = ["10.83.0.1", "10.83.0.2", "10.83.0.3"]
[[gate]]
name = "locks"
policy = "tree"
roster = ["host1", "host2", "host3"]
keep = "90s"
fleetlock = "127.0.0.1:9090"
fleetlock_group = "default"
`

// fleetLockClient follows the page of the protocol. Its id is made of the machine's, as Zincati's is.
const fleetLockClient = `#!/bin/sh
id=$(systemd-id128 machine-id --app-specific=de35106b6ec24688b63afddaa156679b)
exec curl --silent --show-error --fail --max-time 1800 --header "fleet-lock-protocol: true" \
	--data "{\"client_params\": {\"group\": \"default\", \"id\": \"$id\"}}" "http://127.0.0.1:9090/v1/$1"
`

// steadyAtStart is a part of the host's start that says steady-state: it must not wait for the end of that start.
const steadyAtStart = `[Unit]
Wants=wanderd.service
After=wanderd.service
[Service]
Type=oneshot
ExecStart=/bin/sh /root/client steady-state
[Install]
WantedBy=multi-user.target
`

// Three hosts are rebooted by a program that asks with FleetLock: all ask at once, and go down one after the other.
func drillFleetLock(t *testing.T, fleet []*host) {
	for _, h := range fleet {
		h.do(t, "systemctl", "stop", "wanderd")
		h.write(t, "/etc/wanderd/wanderd.toml", locksInTurn)
		h.write(t, "/root/client", fleetLockClient)
		h.write(t, "/etc/systemd/system/client-steady.service", steadyAtStart)
		h.do(t, "systemctl", "enable", "client-steady")
		h.do(t, "systemctl", "start", "wanderd")
		h.do(t, "sh", "/root/client", "steady-state")
		h.do(t, "systemd-run", "--unit=client-reboot", "sh", "-c", "sh /root/client pre-reboot && systemctl reboot")
	}
	said := fleet[0].try("curl", "--silent", "--show-error", "--max-time", "5", "http://10.83.0.2:9090/v1/pre-reboot")
	if !strings.Contains(said, "Failed to connect") {
		t.Errorf("another host is answered: %s", said)
	}
	goDownInTurn(t, fleet, "locks")
	for _, h := range fleet {
		if said := h.do(t, "systemctl", "show", "--property=Result", "client-steady"); said != "Result=success\n" {
			t.Errorf("%s is not steady: %s", h.name, said)
		}
		h.do(t, "systemctl", "disable", "client-steady")
		h.do(t, "systemctl", "stop", "wanderd")
	}
	asBefore(t, fleet)
}

// goDownInTurn waits until each host has gone down for a reboot, and powers it on, and checks that no other one goes
// down meanwhile. The history of each has that reboot.
func goDownInTurn(t *testing.T, fleet []*host, gate string) {
	t.Helper()
	down := make(chan *host, len(fleet))
	for _, h := range fleet {
		go func() {
			_ = h.container.Wait()
			down <- h
		}()
	}
	began := time.Now()
	for range fleet {
		var h *host
		select {
		case h = <-down:
		case <-time.After(6 * time.Minute): // a new gate waits for keep
			t.Fatalf("nobody reboots: %s", fleet[0].log())
		}
		t.Logf("%s is down after %v", h.name, time.Since(began).Round(time.Second))
		select {
		case other := <-down:
			t.Fatalf("%s goes down while %s is down", other.name, h.name)
		case <-time.After(20 * time.Second):
		}
		handed := func() int { return strings.Count(h.journal(), "handing its grant back") }
		before := handed()
		if !h.powerOn(t) || !soon(func() bool { return handed() > before }) {
			t.Fatalf("%s is not back: %s", h.name, h.log())
		}
	}
	for _, h := range fleet {
		if said := h.do(t, "wanderd", "history", "--gate", gate); strings.Count(said, "rebooted") != 1 {
			t.Errorf("the history of %s: %s\n%s", h.name, said, lastLines([]byte(h.journal()), 40))
		}
	}
}

// asBefore starts the fleet with the configuration of the other drills.
func asBefore(t *testing.T, fleet []*host) {
	t.Helper()
	for _, h := range fleet {
		h.write(t, "/etc/wanderd/wanderd.toml", configuration)
		h.do(t, "systemctl", "daemon-reload")
		h.do(t, "systemctl", "start", "wanderd")
	}
	if !soon(func() bool { return fleet[0].status().Members == len(fleet) }) {
		t.Errorf("the fleet does not come together: %s", fleet[0].log())
	}
}
