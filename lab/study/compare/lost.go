package compare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/report"
)

// victims are the members that are killed at once.
type victims string

const (
	// theAgent is the process of the holder; what it runs is ended by its guard. The others lose their power.
	theAgent       victims = "its agent"
	theHost        victims = "its host"
	firstGuardian  victims = "first guardian"
	withGuardians  victims = "host and guardians"
	lossSeeds              = 5
	beforeTheLoss          = 10 * time.Minute
	beforeTheCall          = 250 * time.Millisecond
	mostAfterALoss         = time.Hour
)

func lossSizes() []int { return []int{10, 50, 150, 1000} }

// killing is a case: who is killed in a fleet of that size. If busy, members ask at twice the capacity, and the holder
// is killed during a run; otherwise nobody asks, the token is where it is, and a member asks a moment later.
type killing struct {
	contender contender
	members   int
	killed    victims
	busy      bool
}

func losses() []killing {
	var all []killing
	for _, c := range contenders() {
		for _, killed := range []victims{theAgent, theHost, firstGuardian, withGuardians} {
			if !c.inLosses || !c.guarded && killed != theHost {
				continue
			}
			for _, n := range lossSizes() {
				all = append(all, killing{c, n, killed, false}, killing{c, n, killed, true})
			}
		}
	}
	return all
}

// afterLosses is the experiment of what follows when members are killed.
func afterLosses() study.Experiment {
	all := losses()
	e := study.Surveyed("compare-losses", all, study.Usually[killing](lossSeeds), lose,
		func(runs [][]float64) study.Result { return recovered(all, runs) })
	e.Given = study.Figures{
		"seeds": lossSeeds, "moment": beforeTheCall, "op": op, "latency": latency, "slowest": latency + jitter,
		"backups": backups, "skip": skip,
	}
	return e
}

// lose returns how long the next run takes, in seconds. In a busy fleet that is from the end of the run that was
// disturbed until the next one starts; otherwise from when a member asks. It is infinite if there is none in time.
func lose(ctx context.Context, l *killing, seed uint64) (float64, error) {
	w := &ending{dice: rand.New(rand.NewPCG(seed, 0x6c6f7373)), killing: l, ended: policy.Never, next: policy.Never}
	cfg := sim.Config{
		Seed: seed, Members: l.members, Descriptor: l.contender.descriptor,
		Machine: l.contender.fleet(sim.Roster(sim.Shuffled, seed, l.members)),
		Network: sim.Network{Latency: latency, Jitter: jitter}, Membership: sim.MeasuredMembership(l.members),
		Hook: sim.Hook{Takes: op, Spread: spread}, Watchers: []sim.Watcher{w},
	}
	if l.busy {
		cfg.Demand = sim.Demand{Every: time.Duration(float64(l.members) * float64(op) / 2)}
	}
	c := sim.New(cfg)
	if l.busy {
		c.At(policy.Time(beforeTheLoss), func() { w.armed = true })
	} else {
		first := w.dice.IntN(l.members)
		c.At(policy.Time(beforeTheLoss/2), func() { c.Want(first) })
		c.At(policy.Time(beforeTheLoss), func() { w.killAtRest(c) })
	}
	c.Boot()
	for c.Now() < policy.Time(beforeTheLoss+mostAfterALoss) && w.next == policy.Never {
		if _, err := c.RunFor(ctx, c.Now().Add(time.Second), nil); err != nil {
			return 0, err
		}
	}
	if w.next == policy.Never {
		return math.Inf(1), nil
	}
	return w.next.Sub(w.ended).Seconds(), nil
}

// ending kills the victims, and waits for the next run. It implements [sim.Watcher].
type ending struct {
	*killing
	dice *rand.Rand
	// armed is true if victims are to be killed during the next run. disturbed is the member whose run was disturbed,
	// counted from 1; 0 if there is none.
	armed     bool
	disturbed int
	// ended is when the disturbed run ended, or the member asked. next is when the next run began.
	ended, next policy.Time
}

// Watch kills the victims during a run, and waits for the next one.
func (w *ending) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if w.ended == policy.Never && w.disturbed == o.Member+1 && o.EndsRun() {
		w.ended = o.At
	}
	for range o.Did(policy.Run) {
		switch {
		case w.ended != policy.Never:
			w.next = min(w.next, o.At)
		case w.armed:
			w.armed, w.disturbed = false, o.Member+1
			member := o.Member
			c.After(time.Duration(w.dice.Float64()*float64(op)*(1-spread)), func() { w.kill(c, member) })
		}
	}
	return nil
}

// kill kills the victims of a holder.
func (w *ending) kill(c *sim.Cluster, holder int) (killed []int) {
	if w.killed == firstGuardian || w.killed == withGuardians {
		for _, f := range c.Machine(holder).Facts(c.Now(), nil) {
			if f.Key == policy.KeyGuardian && (w.killed == withGuardians || len(killed) == 0) {
				killed = append(killed, sim.IndexOf(f.Member))
			}
		}
	}
	for _, i := range killed {
		c.PowerCut(i)
	}
	switch w.killed {
	case theAgent:
		c.Crash(holder)
	case theHost, withGuardians:
		c.PowerCut(holder)
	case firstGuardian:
	}
	if w.killed != firstGuardian {
		killed = append(killed, holder)
	}
	return killed
}

// killAtRest kills the victims of whoever holds the token, and lets another member ask a moment later.
func (w *ending) killAtRest(c *sim.Cluster) {
	holder := -1
	for i := range c.Members() {
		if c.Up(i) && c.Status(i).Holding {
			holder = i
		}
	}
	if holder < 0 { // It is on its way.
		c.After(time.Millisecond, func() { w.killAtRest(c) })
		return
	}
	killed := w.kill(c, holder)
	caller := w.dice.IntN(c.Members())
	for slices.Contains(killed, caller) || caller == holder {
		caller = (caller + 1) % c.Members()
	}
	c.After(beforeTheCall, func() {
		w.ended = c.Now()
		c.Want(caller)
	})
}

// recovered makes the tables.
func recovered(all []killing, runs [][]float64) study.Result {
	r := study.Result{Figures: claims(all, runs)}
	for _, busy := range []bool{false, true} {
		t := report.Table{
			Title:  "Nobody waits: from the call after a kill of the holder until its run, median / longest, s",
			Header: []string{"protocol", "killed"},
		}
		if busy {
			t.Title = "Many wait: time without a run after a kill, median / longest, s"
		}
		for _, n := range lossSizes() {
			t.Header = append(t.Header, fmt.Sprintf("N = %d", n))
		}
		for i := range all {
			l, of := &all[i], runs[i]
			if l.busy != busy {
				continue
			}
			if l.members == lossSizes()[0] {
				t.Rows = append(t.Rows, []string{l.contender.name, string(l.killed)})
			}
			row := &t.Rows[len(t.Rows)-1]
			slices.Sort(of)
			if len(of) == 0 {
				*row = append(*row, "–")
				continue
			}
			*row = append(*row, number(of[len(of)/2])+" / "+number(of[len(of)-1]))
		}
		r.Tables = append(r.Tables, t)
	}
	return r
}

// claims returns the figures of the page's sentences about a token on call, and how many of these are borne out.
func claims(all []killing, runs [][]float64) study.Figures {
	worst := func(name string, members int, busy bool, killed victims) (most float64) {
		for i := range all {
			l := &all[i]
			same := l.contender.name == name && l.busy == busy && l.killed == killed
			if same && (l.members == members || members == 0) {
				most = max(most, slices.Max(append(runs[i], 0)))
			}
		}
		return most
	}
	const largest = 1000
	rest := max(worst("call", 0, false, theHost), worst("call", 0, false, theAgent))
	agent, host := worst("call", 0, true, theAgent), worst("call", 0, true, theHost)
	home, wander := worst("call", 0, true, firstGuardian), worst("wander, sweep", largest, false, theHost)
	whole := max(worst("call", largest, true, withGuardians), worst("call", largest, false, withGuardians))
	membership := sim.MeasuredMembership(largest)
	detected := (membership.DetectAfter + membership.DetectMore + membership.Spread).Seconds()
	borneOut := 0
	for _, holds := range []bool{
		rest < 1.8*skip.Seconds() && wander > rest, agent < 0.3 && host < 1.8*skip.Seconds() && home < 0.5,
		whole < detected+3,
	} {
		if holds {
			borneOut++
		}
	}
	return study.Figures{
		"soonest": borneOut, "cases": 3, "detected": number(detected),
		"call": study.Figures{
			"rest": number(rest), "agent": number(agent), "host": number(host), "home": number(home),
			"all": number(whole),
		},
		"wander": study.Figures{"rest": number(wander)},
	}
}
