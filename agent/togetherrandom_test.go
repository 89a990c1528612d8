package agent

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/policy/wander"
)

// "A run holds its gate and those that it needs, or it does not start", and "at most per_zone hosts of a zone run at
// once, whatever slots says": a seed draws the zones of the hosts, per_zone, slots, how long a run waits for its
// gates, who asks for commands, and which agents are killed or stopped meanwhile. In every other one the runs need
// another gate, too: then the zones hold nobody up. Some hosts soak, some gates have stages, or let nobody run while a
// host is down; and operators pause the upgrades.
func TestNoSeedLetsARunStartWithHalfItsGates(t *testing.T) {
	deep.AtNight(t, "each fleet takes many seconds")
	for _, seed := range mutant.Seeds(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 105))
			z := drawZoned(dice, []string{"backup"}[:seed%2])
			inTogetherWorld(t, z.gates, func(w *world) {
				w.set(func() { w.takes = time.Duration(2+dice.IntN(20)) * time.Second })
				z.live(w, dice)
				z.check(w)
			})
		})
	}
}

// zonedFleet is a fleet of hosts in zones, and in which times none of its upgrades may start: while they are paused,
// and while a host is down and all others must know that.
type zonedFleet struct {
	gates        map[string][]gate.Config
	perZone      int
	paused, down []between
}

// between is a time that has ended, or goes on if its end is zero.
type between struct{ from, to time.Time }

func (b *between) has(at time.Time) bool {
	return !at.Before(b.from) && (b.to.IsZero() || at.Before(b.to))
}

// drawZoned draws the gates of the hosts, and how many hosts of a zone may run at once.
func drawZoned(dice *rand.Rand, with []string) *zonedFleet {
	z := &zonedFleet{gates: make(map[string][]gate.Config), perZone: 1 + dice.IntN(2)}
	slots, wait := z.perZone+1+dice.IntN(3), time.Duration(2+dice.IntN(60))*time.Second
	shape, drawn := gate.Config{}, rand.New(rand.NewPCG(dice.Uint64(), 106))
	if drawn.IntN(2) == 0 {
		shape.Aftercare.Soak = time.Duration(1+drawn.IntN(20)) * time.Second
	}
	if drawn.IntN(2) == 0 {
		shape.MaxDown.Count = slots
	}
	if drawn.IntN(2) == 0 {
		shape.Stages = stages.Config{First: []string{"b", "[bd]"}[:1+drawn.IntN(2)], Wait: time.Minute}
	}
	for _, host := range []string{"a", "b", "c", "d", "e"} {
		zone := "upgrade@" + []string{"x", "x", "y"}[dice.IntN(3)]
		runs, zones := upgrades(slots, with...), commands(zone)
		runs.Zone, runs.WithWait, zones.ZoneOf = zone, wait, "upgrade"
		runs.Aftercare, runs.MaxDown, runs.Stages = shape.Aftercare, shape.MaxDown, shape.Stages
		often := runs.Protocol.(wander.Settings)
		often.MinInterval, often.Soak = 2*time.Minute, shape.Aftercare.Soak
		runs.Protocol = often
		zones.Protocol = call.Settings{Skip: time.Second, Backups: 2, Slots: z.perZone}
		z.gates[host] = []gate.Config{runs, zones, commands("backup")}
	}
	return z
}

// live lets the hosts of a world run for some intervals. One of them is down at a time.
func (z *zonedFleet) live(w *world, dice *rand.Rand) {
	in := func(seconds int) time.Time { return time.Now().Add(time.Duration(dice.IntN(seconds)) * time.Second) }
	due := func(at time.Time) bool { return !time.Now().Before(at) }
	faults, down, nextFault, nextCall, nextPause := 3, "", in(60), in(60), in(600)
	for end := time.Now().Add(12 * time.Minute); !due(end); time.Sleep(time.Second) {
		w.mustHoldAll()
		name := w.names()[dice.IntN(len(w.gatesOn))]
		if due(nextCall) && name != down {
			w.called(name, "backup")
			nextCall = in(60)
		}
		if due(nextPause) && name != down {
			z.directs(w, name)
			time.Sleep(3 * time.Second) // So it has reached all, whoever dies next.
			nextPause = in(120)
		}
		switch {
		case !due(nextFault) || faults == 0 && down == "":
		case down != "":
			if n := len(z.down); n > 0 && z.down[n-1].to.IsZero() {
				z.down[n-1].to = time.Now()
			}
			w.start(down, AloneWait)
			down, nextFault = "", in(120).Add(30*time.Second)
		case dice.IntN(2) == 0:
			w.crash(name)
			z.down = append(z.down, between{from: time.Now().Add(30 * time.Second)})
			faults, down, nextFault = faults-1, name, in(90)
		default:
			if err := w.leave(name); err != nil {
				w.t.Error(err)
			}
			faults, down, nextFault = faults-1, name, in(60)
		}
	}
	if n := len(z.down); n > 0 && z.down[n-1].to.IsZero() {
		z.down[n-1].to = time.Now()
	}
	if down != "" {
		w.start(down, AloneWait)
	}
	if n := len(z.paused); n > 0 && z.paused[n-1].to.IsZero() {
		z.directs(w, "a")
	}
	whole := time.Now()
	w.until("all have run", time.Hour, func() bool {
		ran := map[string]bool{}
		for _, s := range read(w, func() []*span { return slices.Clone(w.spans) }) {
			if s.from.After(whole) && slices.Contains(s.gates, "upgrade") {
				ran[s.host] = true
			}
		}
		return len(ran) == len(z.gates)
	})
}

// directs lets an operator on a host pause the upgrades, or resume them.
func (z *zonedFleet) directs(w *world, name string) {
	n := len(z.paused)
	resumes := n > 0 && z.paused[n-1].to.IsZero()
	w.giveDirective(name, control.Directive{
		Gate: "upgrade", Pause: !resumes, For: control.Duration(time.Hour),
	})
	if resumes {
		z.paused[n-1].to = time.Now()
	} else {
		z.paused = append(z.paused, between{from: time.Now().Add(2 * time.Second)})
	}
}

// check checks each run from outside.
func (z *zonedFleet) check(w *world) {
	all := read(w, func() []*span { return slices.Clone(w.spans) })
	for _, s := range all {
		if !slices.Contains(s.gates, "upgrade") {
			continue
		}
		own := z.gates[s.host][0]
		if want := needed(z.gates[s.host]); !slices.Equal(s.gates, want) {
			w.t.Errorf("%s runs under %v, and its configuration wants %v", s.host, s.gates, want)
		}
		at := func(b between) bool { return b.has(s.from) }
		if slices.ContainsFunc(z.paused, at) {
			w.t.Errorf("%s runs at %v, and the upgrades are paused", s.host, s.from)
		}
		if own.MaxDown.Count > 0 && slices.ContainsFunc(z.down, at) {
			w.t.Errorf("%s runs at %v, and a host is down", s.host, s.from)
		}
		for _, other := range all {
			long := !other.from.Add(30*time.Second).After(s.from) && (other.to.IsZero() || other.to.After(s.from))
			if long && slices.Contains(other.gates, "upgrade") && own.Stages.Of(other.host) < own.Stages.Of(s.host) {
				w.t.Errorf("%s runs at %v, and %s of an earlier stage does", s.host, s.from, other.host)
			}
		}
	}
	slots := z.gates["a"][0].Protocol.(wander.Settings).Slots
	for name, most := range map[string]int{
		"upgrade@x": z.perZone, "upgrade@y": z.perZone, "backup": 1, "upgrade": slots,
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
