package ballot_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/lab/forms"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/wire"
)

// world is a few strict gates in true time, with the shells and hosts around them and a network between them: small and
// fast, for deep hunts. Each host has a clock of its own, at a rate of its own, that also counts while the host is
// suspended.
type world struct {
	p       plan
	shell   shell
	dice    *rand.Rand
	entropy policy.Entropy
	now     int64 // true time
	// fresh is how many pairs of marks are new in this world, and freshAt when the last one was.
	fresh   int
	freshAt int64
	seq     uint64
	queue   []event
	mail    []wire.Message
	free    []int32
	hosts   []host
	ev      policy.Event
	out     []policy.Effect
	// apart is which hosts do not hear which: bit to of apart[from].
	apart [maxHosts]hostSet
	// calm is true when nothing goes wrong any more; quiet is true when no member wants to run any more.
	calm, quiet bool
	// lost is the last of the messages that are lost because they were under way when all became quiet.
	lost uint64
	err  error
	// forger lies, if there is one; forged are its messages. A blind world judges neither starts nor leases, because a
	// Byzantine member can break them.
	forger *forger
	forged []wire.Message
	blind  bool
	// seen has seen all messages, if it is set.
	seen       *forms.Forms
	log        func(format string, args ...any)
	starts     int
	sends      int
	check      checker
	roster     ballot.Roster
	descriptor policy.Descriptor
}

// shell is in which ways the shells of a world are broken.
type shell struct {
	// agentIsGuard: nothing ends a command while the agent stands still.
	agentIsGuard bool
	// outlives: nothing ends the command of an agent that was killed.
	outlives bool
	// clockStops: the clock stands still while the host is suspended.
	clockStops bool
	// alwaysReleases: the guard sends its pre-signed release although its command has ended by itself.
	alwaysReleases bool
	// keepsToken: a member that starts again goes on with what it had.
	keepsToken bool
	// setsBack: a host may be set back to an older copy of what it has saved, as with a virtual machine.
	setsBack bool
	// marks is which rare branches the members take; nil if nobody listens.
	marks *marks.Set
}

// plan is what a seed draws: the roster, the constants, and what goes wrong. Times are in true nanoseconds; every is
// the mean time between two faults of a kind, zero for never.
type plan struct {
	kind                               gateKind
	seed                               uint64
	members                            int
	lease, killAfter, margin, patience time.Duration
	drift                              float64
	wantEvery, runFor                  time.Duration
	deaf                               float64
	latency, jitter, lateBy            time.Duration
	loss, duplicate, late              float64
	saveFor, slowFor                   time.Duration
	slow, saveFails                    float64
	crashEvery, downFor, startsAfter   time.Duration
	midStep, powerCut                  float64
	pauseEvery, pauseFor               time.Duration
	asleep, midPause                   float64
	partEvery, partFor                 time.Duration
	oneWay                             float64
	leaveEvery                         time.Duration
	faultsFor                          time.Duration
	pacePlan
	unequal
	keepPlan
	shapePlan
	soakPlan
	oncePlan
	forgetPlan
	corePlan
	// reseedAt is when all that is drawn from then on is drawn from another seed; zero for never.
	reseedAt time.Duration
	reseed   uint64
}

type eventKind uint8

const (
	evDeliver eventKind = iota
	evWake
	evSaved
	evGuard
	evWant
	evUnwant
	evStillWant
	evResume
	evStart
	evCrash
	evPause
	evPart
	evHeal
	evLeave
	evRelease
	evView
	evCalm
	evTogether
	evDeaf
	evForged
	evReboot
	evKeptOver
	evReady
	evSoaked
	evResumed
	evDirected
	evReseed
)

type event struct {
	at   int64
	seq  uint64
	kind eventKind
	who  int8
	arg  int32
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

const (
	second      = int64(time.Second)
	ms          = int64(time.Millisecond)
	termTakes   = 5 * ms
	orphanGrace = 50 * ms
	wallEpoch   = 1_700_000_000 * second
)

func names(n int) (names []string, ids []wire.MemberID) {
	for i := range n {
		names = append(names, string(rune('a'+i)))
		ids = append(ids, wire.MemberID{0: byte(i + 1), 15: byte(i + 1)})
	}
	return names, ids
}

func newWorld(p plan, s shell) *world {
	w := &world{p: p, shell: s, dice: rand.New(rand.NewPCG(p.seed, 1)), entropy: rand.NewPCG(p.seed, 2)}
	if s.setsBack {
		w.p.forgets = 0.3
	}
	var err error
	if w.roster, err = ballot.NewRoster(names(p.members)); err != nil {
		panic(err)
	}
	w.hosts = make([]host, p.members)
	w.descriptor = w.newDescriptor()
	w.check.init(w)
	for i := range w.hosts {
		h := &w.hosts[i]
		h.rate = 1 + p.drift*(2*w.dice.Float64()-1)
		if w.dice.IntN(3) > 0 { // mostly at the ends
			h.rate = 1 + p.drift*float64(2*w.dice.IntN(2)-1)
		}
		h.offset = w.dice.Int64N(1000 * second)
	}
	for i := range w.hosts {
		w.start(i)
	}
	w.every(p.crashEvery, evCrash)
	w.every(p.pauseEvery, evPause)
	w.every(p.partEvery, evPart)
	w.every(p.leaveEvery, evLeave)
	w.asks()
	if p.together > 0 {
		w.after(w.around(p.together), evTogether, 0, 0)
	}
	if p.resumeEvery > 0 {
		w.after(w.around(p.resumeEvery), evResumed, 0, 0)
	}
	if p.deafEvery > 0 {
		w.after(w.around(p.deafEvery), evDeaf, 0, 0)
	}
	w.after(int64(p.faultsFor), evCalm, 0, 0)
	if p.reseedAt > 0 {
		w.after(int64(p.reseedAt), evReseed, 0, 0)
	}
	return w
}

func (w *world) config(i int) ballot.Config {
	return ballot.Config{
		Gate: 7, Roster: &w.roster, Self: i, Lease: w.leaseOf(i), MostLease: w.leaseOf(i),
		KillAfter: w.p.killAfter, Margin: w.p.margin,
		Rho: w.rhoOf(i), Patience: w.p.patienceOf(i), Entropy: w.entropy,
	}
}

// leaseOf is the lease of a host since its start. While a new lease goes from host to host, theirs differ.
func (w *world) leaseOf(i int) time.Duration {
	if !w.p.rolledOut || w.hosts[i].settled {
		return w.p.lease
	}
	from, to := (w.p.killAfter+w.p.margin+6*w.p.patience)*9/8, w.p.lease
	if w.p.longer {
		from, to = w.p.lease, w.p.longest()
	}
	return from + time.Duration(w.ofThisStart(i, 1)*float64(to-from))
}

// longest is the longest lease of any host.
func (p *plan) longest() time.Duration {
	if p.rolledOut && p.longer {
		return 2 * p.lease
	}
	return p.lease
}

// keepOf is how long a grant of a host outlives it. While that goes from host to host, some have no such grants yet,
// and others had longer ones.
func (w *world) keepOf(i int) time.Duration {
	if w.p.keep == 0 || !w.p.rolledOut || !w.p.longer || w.hosts[i].settled {
		return w.p.keep
	}
	if share := w.ofThisStart(i, 3); share >= 1.0/3 {
		return w.leaseOf(i) + time.Duration(share*float64(w.p.keep))
	}
	return 0
}

// rhoOf is the ρ of a host since its start: never less than its clock needs.
func (w *world) rhoOf(i int) float64 {
	if !w.p.rolledOut || w.hosts[i].settled {
		return 0.01
	}
	return 0.01 + 0.03*w.ofThisStart(i, 2)
}

// ofThisStart draws a number from 0 to 1 for a start of a host.
func (w *world) ofThisStart(i int, what uint64) float64 {
	return rand.New(rand.NewPCG(w.p.seed, what<<32+uint64(w.hosts[i].life)<<8+uint64(i))).Float64()
}

// patienceOf is the patience of a host.
func (p *plan) patienceOf(i int) time.Duration {
	return p.patience + time.Duration(p.patient[i]*float64(p.patience))
}

// local is a host's clock now; trueAt is the true time at which the clock shows a time.
func (w *world) local(i int) policy.Time {
	h := &w.hosts[i]
	return policy.Time(h.offset + int64(h.rate*float64(w.now)))
}

func (w *world) trueAt(i int, t policy.Time) int64 {
	h := &w.hosts[i]
	return int64(float64(int64(t)-h.offset)/h.rate) + 1
}

func (w *world) instant(i int) policy.Instant {
	return policy.Instant{Time: w.local(i), Wall: wallEpoch + w.p.wallAhead + w.now - w.hosts[i].behind}
}

// around draws a time with a mean.
func (w *world) around(mean time.Duration) int64 {
	return int64(w.dice.ExpFloat64()*float64(mean)) + 1
}

func (w *world) happens(p float64) bool { return p > 0 && w.dice.Float64() < p }

func (w *world) every(mean time.Duration, kind eventKind) {
	if mean > 0 && !w.calm {
		w.after(w.around(mean/time.Duration(w.p.members)), kind, w.dice.IntN(w.p.members), 0)
	}
}

func (w *world) after(d int64, kind eventKind, who int, arg int32) { w.at(w.now+d, kind, who, arg) }

func (w *world) at(at int64, kind eventKind, who int, arg int32) {
	w.seq++
	e := event{max(at, w.now), w.seq, kind, int8(who), arg}
	q := append(w.queue, e)
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 4
		if q[up].before(&q[i]) {
			break
		}
		q[up], q[i] = q[i], q[up]
		i = up
	}
	w.queue = q
}

func (w *world) pop() event {
	q := w.queue
	e, n := q[0], len(q)-1
	q[0] = q[n]
	q = q[:n]
	for i := 0; ; {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if q[c].before(&q[least]) {
				least = c
			}
		}
		if q[i].before(&q[least]) {
			break
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
	w.queue = q
	return e
}

func (w *world) until(end int64) error {
	for w.err == nil && len(w.queue) > 0 && w.queue[0].at <= end {
		e := w.pop()
		w.now = e.at
		w.happen(e)
	}
	w.now = max(w.now, end)
	return w.err
}

// notWellFormed is the error to which no lie of another member may lead.
const notWellFormed = "%d sends a message that is not well-formed: %+v"

func (w *world) fail(format string, args ...any) {
	if w.err == nil && (!w.blind || format == notWellFormed) {
		w.err = fmt.Errorf("%.6f s: %s", float64(w.now)/1e9, fmt.Sprintf(format, args...))
	}
}

func (w *world) tell(format string, args ...any) {
	if w.log != nil {
		w.log("%11.6f %s", float64(w.now)/1e9, fmt.Sprintf(format, args...))
	}
}

// leave lets a member leave. An agent under a kept grant just ends, because its host may be on its way down.
func (w *world) leave(i int) {
	if w.p.keep > 0 && w.hosts[i].run.active {
		w.crash(i, false)
		return
	}
	w.tell("%d leaves", i)
	w.ev.Kind = policy.Leave
	w.check.served(i)
	w.step(i)
}

func (w *world) happen(e event) {
	i := int(e.who)
	h := &w.hosts[i]
	switch e.kind {
	case evDeliver:
		switch {
		case !h.up || h.asleep || e.seq <= w.lost:
			w.free = append(w.free, e.arg)
		case h.away:
			h.held = append(h.held, e)
		default:
			w.ev.Kind, w.ev.Msg = policy.Received, w.mail[e.arg]
			w.free = append(w.free, e.arg)
			if h.g.Expects(&w.ev.Msg) {
				w.step(i)
			}
		}
	case evWake:
		if h.up && !h.away && e.at == h.wakeAt {
			w.ev.Kind = policy.Woke
			w.step(i)
		}
	case evSaved:
		w.onSaved(i, e.arg)
	case evGuard:
		if h.run.active && h.run.number == e.arg && !h.asleep {
			w.guard(i)
		}
	case evWant:
		if e.arg != h.life || w.quiet {
			return
		}
		if h.up && !h.away {
			w.ev.Kind = policy.Wanted
			w.check.wanted(i)
			w.step(i)
			if w.happens(0.05) {
				w.after(w.around(w.p.wantEvery)/4, evUnwant, i, 0)
			}
		}
		if !w.calm {
			w.after(w.around(w.p.wantEvery), evWant, i, e.arg)
		}
	case evStillWant:
		if e.arg == h.life {
			w.stillWant(i)
		}
	case evUnwant:
		if h.up && !h.away && !w.calm {
			w.ev.Kind = policy.Unwanted
			w.check.served(i)
			w.step(i)
		}
	case evResume:
		if h.away && h.backAt == e.at {
			w.resume(i)
		}
	case evStart:
		if !h.up && !w.staysOut(i) {
			w.start(i)
		}
	case evCrash:
		w.onCrash(i)
		w.every(w.p.crashEvery, evCrash)
	case evPause:
		w.onPause(i)
		w.every(w.p.pauseEvery, evPause)
	case evPart:
		w.onPart()
		w.every(w.p.partEvery, evPart)
	case evHeal:
		if !w.calm || w.p.core == 0 {
			w.apart = [maxHosts]hostSet{}
		}
		w.look()
	case evLeave:
		if h.up && !h.away && !w.calm {
			w.leave(i)
		}
		w.every(w.p.leaveEvery, evLeave)
	case evReboot:
		if h.up && h.run.active && h.run.number == e.arg && !w.calm {
			w.crash(i, true)
		}
	case evKeptOver:
		w.check.keptOver(i)
	case evReady:
		w.asks()
	case evSoaked:
		if h.up && h.run.soaks && h.run.number == e.arg {
			w.soaked(i)
		}
	case evResumed:
		w.onResumed()
	case evDirected:
		w.onDirected(i)
	case evTogether:
		w.onTogether()
	case evDeaf:
		w.onDeaf()
	case evForged:
		w.onForged(i, &w.forged[e.arg])
	case evRelease:
		for k := range h.run.said {
			w.send(&h.run.said[k])
		}
	case evView:
		w.see(i)
	case evCalm:
		w.heal()
	case evReseed:
		w.dice = rand.New(rand.NewPCG(w.p.reseed, 1))
		*w.entropy.(*rand.PCG) = *rand.NewPCG(w.p.reseed, 2)
	}
}
