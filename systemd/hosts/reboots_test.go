package hosts_test

import (
	"strings"
	"testing"
)

// locksInTurn is such a gate for programs that ask before they reboot a host.
const locksInTurn = `join = ["10.83.0.1", "10.83.0.2", "10.83.0.3"]
[[gate]]
name = "locks"
policy = "tree"
roster = ["host1", "host2", "host3"]
keep = "25s"
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
	j := judged(t, fleet)
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
	allReboot(t, j, fleet, "locks")
	for _, h := range fleet {
		if said := h.do(t, "systemctl", "show", "--property=Result", "client-steady"); said != "Result=success\n" {
			t.Errorf("%s is not steady: %s", h.name, said)
		}
		h.do(t, "systemctl", "disable", "client-steady")
		h.do(t, "systemctl", "stop", "wanderd")
	}
	asBefore(t, fleet)
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
