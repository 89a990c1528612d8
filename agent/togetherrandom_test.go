package agent

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/wander"
)

// "A run holds its gate and those that it needs, or it does not start", and "at most per_zone hosts of a zone run at
// once, whatever slots says": a seed draws the zones of the hosts, per_zone, slots, how long a run waits for its
// gates, who asks for commands, and which agents are killed or stopped meanwhile. In every other one the runs need
// another gate, too: then the zones hold nobody up.
func TestNoSeedLetsARunStartWithHalfItsGates(t *testing.T) {
	deep.Only(t, "each fleet takes some seconds")
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 105))
			gates, perZone := drawZones(dice, []string{"backup"}[:seed%2])
			inTogetherWorld(t, gates, func(w *world) {
				w.set(func() { w.takes = time.Duration(2+dice.IntN(20)) * time.Second })
				inZones(w, dice, perZone)
			})
		})
	}
}

// drawZones draws the gates of the hosts, and how many hosts of a zone may run at once.
func drawZones(dice *rand.Rand, with []string) (gates map[string][]gate.Config, perZone int) {
	gates, perZone = make(map[string][]gate.Config), 1+dice.IntN(2)
	slots, wait := perZone+1+dice.IntN(3), time.Duration(2+dice.IntN(10))*time.Second
	for _, host := range []string{"a", "b", "c", "d", "e"} {
		zone := "upgrade@" + []string{"x", "x", "y"}[dice.IntN(3)]
		runs, zones := upgrades(slots, with...), commands(zone)
		runs.Zone, runs.WithWait, zones.ZoneOf = zone, wait, "upgrade"
		often := runs.Protocol.(wander.Settings)
		often.MinInterval = 2 * time.Minute
		runs.Protocol = often
		zones.Protocol = call.Settings{Skip: time.Second, Backups: 2, Slots: perZone}
		gates[host] = []gate.Config{runs, zones, commands("backup")}
	}
	return gates, perZone
}

// inZones lets the hosts of a world run for two intervals and more, and checks each run from outside.
func inZones(w *world, dice *rand.Rand, perZone int) {
	faults, nextFault, nextCall := 2, time.Now(), time.Now()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		w.mustHoldAll()
		name := w.names()[dice.IntN(len(w.gatesOn))]
		if !time.Now().Before(nextCall) {
			w.called(name, "backup")
			nextCall = time.Now().Add(time.Duration(dice.IntN(60)) * time.Second)
		}
		if faults == 0 || time.Now().Before(nextFault) {
			continue
		}
		faults--
		nextFault = time.Now().Add(time.Duration(30+dice.IntN(120)) * time.Second)
		if dice.IntN(2) == 0 {
			w.crash(name)
		} else if err := w.leave(name); err != nil {
			w.t.Error(err)
		}
		time.Sleep(time.Duration(dice.IntN(30)) * time.Second)
		w.start(name, AloneWait)
	}
	upgrades := 0
	for _, s := range read(w, func() []*span { return slices.Clone(w.spans) }) {
		if !slices.Contains(s.gates, "upgrade") {
			continue
		}
		upgrades++
		if want := needed(w.gatesOn[s.host]); !slices.Equal(s.gates, want) {
			w.t.Errorf("%s runs under %v, and its configuration wants %v", s.host, s.gates, want)
		}
	}
	if upgrades < len(w.gatesOn) {
		w.t.Errorf("only %d runs", upgrades)
	}
	slots := w.gatesOn["a"][0].Protocol.(wander.Settings).Slots
	for name, most := range map[string]int{
		"upgrade@x": perZone, "upgrade@y": perZone, "backup": 1, "upgrade": slots,
	} {
		if n := w.most(name); n > most {
			w.t.Errorf("%d ran at once under %s, and at most %d may", n, name, most)
		}
	}
}

// needed are the gates that a run of the first gate of a host holds: from its configuration, not from what the agent
// makes of that.
func needed(gates []gate.Config) []string {
	names := append([]string{gates[0].Name, gates[0].Zone}, gates[0].With...)
	slices.Sort(names)
	return names
}
