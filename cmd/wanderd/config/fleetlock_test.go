package config

import (
	"strings"
	"testing"
	"time"
)

func fleetLockGate(lines ...string) reading {
	return strictGate(append([]string{`policy = "tree"`, `roster = ["a", "b", "c"]`}, lines...)...)
}

func TestAGateAnswersFleetLock(t *testing.T) {
	l := fleetLockGate(`keep = "15m"`, `fleetlock = "127.0.0.1:9090"`, `fleetlock_group = "workers"`).read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	g := l.Agent.Gates[0]
	if g.FleetLock != "127.0.0.1:9090" || g.FleetLockGroup != "workers" || g.Keep != 15*time.Minute {
		t.Errorf("%+v", g)
	}
}

func TestFleetLockNeedsKeepALoopbackAddressAndAGroup(t *testing.T) {
	const keep, at = `keep = "15m"`, `fleetlock = "127.0.0.1:9090"`
	for want, lines := range map[string][]string{
		"set keep":                        {at},
		"not of the loopback":             {keep, `fleetlock = "10.0.0.1:9090"`},
		"no address with a port":          {keep, `fleetlock = "localhost"`},
		"cannot be the group of a client": {keep, at, `fleetlock_group = "a b"`},
		"nobody can ask":                  {keep, `fleetlock_group = "workers"`},
		"a port of its own": {
			keep, at, "[[gate]]", `name = "h"`, `policy = "tree"`, `roster = ["a", "b", "c"]`, keep, at,
		},
	} {
		l := fleetLockGate(lines...).read(t)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", lines, err, want)
		}
	}
}

// The name of a gate may have an underscore, and that of a group may not.
func TestAGateWhoseNameIsNoGroupNeedsOne(t *testing.T) {
	in := fleetLockGate(`keep = "15m"`, `fleetlock = "[::1]:9090"`)
	in.file = strings.Replace(in.file, `"g"`, `"a_b"`, 1)
	if err := in.read(t).Check(); err == nil || !strings.Contains(err.Error(), "set fleetlock_group") {
		t.Error(err)
	}
}
