package e2e

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

var rounds = flag.Int("rounds", 0, "how often each way to lose a token is tried; its figures are printed with -v, "+
	"and held to three seconds, or to 0.3")

const (
	// briefly is how often each way is tried when no figures are wanted.
	briefly = 2
	// soon is the limit of the figures, and atOnce the limit of those without a wait for a silence.
	soon   = 3 * time.Second
	atOnce = 300 * time.Millisecond
)

// These are the ways to lose a token for good: with its holder, whose hook may be stubborn; with the member to which it
// was just given; and with no member.
func TestALostTokenIsBackInSeconds(t *testing.T) {
	t.Parallel()
	deep.Only(t, "loses a token again and again")
	d := newDrill(t)
	for _, l := range []loss{
		{"holder killed in mid-hook", atOnce, (*drill).killHolder},
		{"holder killed in mid-hook, which ignores TERM", atOnce, (*drill).killDeafHolder},
		{"receiver killed before the Commit", soon, (*drill).killReceiver},
		{"every Commit of a handoff lost", soon, (*drill).loseCommits},
	} {
		t.Run(l.name, func(t *testing.T) { d.repeat(t, l) })
	}
}

// loss is a way to lose the token. within is how soon the next hook has to start. strike waits for its moment, and
// returns when that was and which member died, if any did.
type loss struct {
	name   string
	within time.Duration
	strike func(d *drill) (at time.Time, dead *node)
}

// drill is ten agents that lose their token again and again.
type drill struct {
	*fleet
	// work is how long a hook runs. Ten hooks take longer than min_interval, even if two of them are cut short, so that
	// some member is always due.
	work    time.Duration
	relay   *relay
	custody *custody
	// looked is the time up to which it is known which members were at work together.
	looked time.Time
}

// newDrill starts ten agents. For figures every constant has its default, except min_interval, which is as short as op
// allows. Otherwise everything goes faster, and regeneration is out of reach, so that only its guardians can bring the
// token back.
func newDrill(t *testing.T) *drill {
	work, args := 400*time.Millisecond, []string{"--min-interval", "3s"}
	if *rounds == 0 {
		work = 100 * time.Millisecond
		args = []string{"--skip", "250ms", "--op", "100ms", "--min-interval", "1s", "--max-interval", "1h"}
	}
	f := newFleet(t, 10, args...)
	d := &drill{fleet: f, work: work, relay: newRelay(t, f), custody: newCustody(f), looked: time.Now()}
	for _, n := range f.nodes {
		d.launch(n)
	}
	d.everybodyRuns(d.looked)
	return d
}

func (d *drill) launch(n *node) { n.start(fmt.Sprintf("WORK=%.3f", d.work.Seconds())) }

// restart starts a member that was killed at the given time.
func (d *drill) restart(n *node, killed time.Time) {
	d.custody.read(n)
	d.custody.end(n, killed)
	d.launch(n)
}

// everybodyRuns waits until every member's hook has started after the given time.
func (d *drill) everybodyRuns(since time.Time) {
	until(d.t, "everybody runs", func() bool {
		late := slices.DeleteFunc(d.runs(), func(r run) bool { return !r.start.After(since) })
		return !slices.ContainsFunc(d.nodes, func(n *node) bool { return by(late, n.name) == 0 })
	})
}

// letPass lets some runs begin, so that the token is not always lost in the turn of the same members.
func (d *drill) letPass(n int) {
	before := len(d.runs())
	until(d.t, "hooks start", func() bool { return len(d.runs()) >= before+n })
}

// nextRun waits for the first hook that starts after the given time.
func (d *drill) nextRun(since time.Time) (next run) {
	until(d.t, "a hook starts", func() bool {
		runs := d.runs()
		i := slices.IndexFunc(runs, func(r run) bool { return r.start.After(since) })
		if i >= 0 {
			next = runs[i]
		}
		return i >= 0
	})
	return next
}

// killHolder kills a member at some time in the middle of its hook.
func (d *drill) killHolder() (time.Time, *node) {
	for {
		r := d.nextRun(time.Now())
		time.Sleep(time.Until(r.start.Add(d.work/10 + rand.N(d.work/2))))
		i := slices.IndexFunc(d.nodes, func(n *node) bool { return n.name == r.name })
		at := time.Now()
		d.nodes[i].kill()
		alive := at
		for now := at; !gone(r.pid)(); now = time.Now() {
			if alive = now; now.After(at.Add(patience)) {
				d.t.Fatalf("the hook of %s lives on", r.name)
			}
			time.Sleep(time.Millisecond)
		}
		if d.cutShort(r.pid, alive) {
			return at, d.nodes[i]
		}
		d.restart(d.nodes[i], at) // too late: the hook had ended, and the token may have been passed on
	}
}

// killDeafHolder does the same while the hook ignores SIGTERM.
func (d *drill) killDeafHolder() (time.Time, *node) {
	if err := os.WriteFile(d.deaf, nil, 0o600); err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = os.Remove(d.deaf) }()
	return d.killHolder()
}

// killReceiver kills a member that has acknowledged a token, while the Commit is on its way to it: the sender has
// already given the token up.
func (d *drill) killReceiver() (at time.Time, dead *node) {
	done := make(chan struct{})
	d.relay.watch(func(to *node, m *wire.Message) bool {
		if m.Kind == handoff.KindCommit && dead == nil {
			at, dead = time.Now(), to
			to.kill()
			close(done)
		}
		return false
	})
	d.await(done)
	return at, dead
}

// loseCommits loses every Commit of one handoff.
func (d *drill) loseCommits() (at time.Time, dead *node) {
	done := make(chan struct{})
	var of wire.Exchange
	d.relay.watch(func(_ *node, m *wire.Message) bool {
		if m.Kind == handoff.KindCommit && of == 0 {
			at, of = time.Now(), m.Exchange
			close(done)
		}
		return m.Kind == handoff.KindCommit && m.Exchange == of
	})
	d.await(done)
	return at, nil
}

// await waits for the event that the relay watches for. The relay goes on watching until told otherwise.
func (d *drill) await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(patience):
		d.t.Fatalf("no token was handed on for %s", patience)
	}
}

// round is the outcome of one loss of the token.
type round struct {
	// next is how long it took until a hook started; together is how long two members were at work without a break.
	next, together time.Duration
	// fell is true if the next hook had no higher fencing number than those before; beside is how many hooks found
	// another one running when they started.
	fell   bool
	beside int
	// trace is what the agents' logs reported of the token in the meantime.
	trace string
}

// round loses the token once, and waits until the fleet is whole again.
func (d *drill) round(l loss) round {
	d.letPass(rand.IntN(len(d.nodes) / 2))
	at, dead := l.strike(d)
	next := d.nextRun(at)
	if dead != nil {
		d.restart(dead, at)
	}
	d.everybodyRuns(at)
	d.relay.watch(nil)

	r := round{next: next.start.Sub(at), beside: d.beside}
	d.beside = 0
	for _, before := range d.runs() {
		r.fell = r.fell || before.start.Before(at) && before.seq >= next.seq
	}
	now := time.Now()
	r.together = longestTogether(d.custody.atWork(d.fleet, d.looked, now), d.looked)
	r.trace = d.custody.tell(at.Add(-soon/2), next.start.Add(soon/2))
	d.looked = now
	return r
}

// repeat loses the token again and again, and adds up the outcomes.
func (d *drill) repeat(t *testing.T, l loss) {
	defer func(outer testing.TB) { d.t, d.custody.t = outer, outer }(d.t)
	d.t, d.custody.t = t, t
	all := make([]round, cmp.Or(*rounds, briefly))
	for i := range all {
		all[i] = d.round(l)
		r := all[i]
		t.Logf("round %d: next hook after %s, two at work for %s", i+1, r.next.Round(time.Millisecond), r.together)
		switch {
		case *rounds == 0:
		case r.fell:
			t.Errorf("round %d: the next hook's fencing number is not the highest:\n%s", i+1, r.trace)
		case r.next > l.within:
			t.Errorf("round %d took longer than %s:\n%s", i+1, l.within, r.trace)
		case r.together > 0 || r.beside > 0:
			t.Errorf("round %d: two at work for %s, %d hooks start while another runs:\n%s", i+1, r.together, r.beside,
				r.trace)
		}
	}
	t.Logf("%d rounds: next hook after %s; two at work for %s", len(all),
		quantiles(all, func(r round) time.Duration { return r.next }),
		quantiles(all, func(r round) time.Duration { return r.together }))
}

func quantiles(all []round, of func(round) time.Duration) string {
	sorted := make([]time.Duration, 0, len(all))
	for _, r := range all {
		sorted = append(sorted, of(r).Round(time.Millisecond))
	}
	slices.Sort(sorted)
	return fmt.Sprintf("p50 %s, p90 %s, max %s", sorted[len(sorted)/2], sorted[len(sorted)*9/10], sorted[len(sorted)-1])
}
