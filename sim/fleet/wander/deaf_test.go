package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// A deaf holder that is due again as soon as it has run runs once, whatever becomes of its offers. But it does not go
// on for ever while its heartbeats calm its guardians.
func TestAHolderThatHearsNobodyAndIsAlwaysDueKeepsNoToken(t *testing.T) {
	const op = 4 * time.Second
	s := wandering.Scenario{
		Seed: 1, Members: 3, Skip: time.Second, Op: op, MinInterval: op, Walk: wander.Sweep, Backups: 2,
		Network: sim.Network{Latency: 5 * time.Millisecond}, Membership: sim.Membership{DetectAfter: time.Hour},
		Hook: sim.Hook{Takes: op},
	}
	c := s.NewCluster(s.Checkers()...)
	c.BootWithToken(0)
	advance(t, c, time.Minute)
	deaf := oneHolder(t, c)
	c.Deafen(deaf, true)
	advance(t, c, 4*op)
	if !held(c, deaf) {
		t.Error("nobody but the holder has the token after four runs")
	}
}
