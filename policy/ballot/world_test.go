package ballot_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// world is a few strict gates in true time, with the shells and hosts around them and a network between them: small and fast, for deep hunts.
// Each host has a clock of its own, at a rate of its own, that also counts while the host is suspended.
type world struct {
	p       plan
	shell   shell
	dice    *rand.Rand
	entropy *rand.PCG
	now     int64 // true time
	seq     uint64
	queue   []event
	mail    []wire.Message
	free    []int32
	hosts   []host
	ev      policy.Event
	out     []policy.Effect
	// apart is who does not hear whom: bit to of apart[from].
	apart  [8]uint8
	calm   bool
	err    error
	log    func(format string, args ...any)
	starts int
	check  checker
}

// shell says in which ways the shells of a world are broken.
type shell struct {
	// agentIsGuard: nobody ends a command while the agent stands still.
	agentIsGuard bool
	// outlives: nobody ends the command of an agent that was killed.
	outlives bool
	// clockStops: the clock stands still while the host is suspended.
	clockStops bool
	// alwaysReleases: the guard says its last word although its command has ended by itself.
	alwaysReleases bool
	// keepsToken: a member that starts again goes on with what it had.
	keepsToken bool
}

// plan is what a seed draws: the roster, the constants, and what goes wrong. Times are in true nanoseconds; every is the mean time between two
// faults of a kind, zero for never.
type plan struct {
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
	crashEvery, downFor                time.Duration
	midStep, powerCut                  float64
	pauseEvery, pauseFor               time.Duration
	asleep, midPause                   float64
	partEvery, partFor                 time.Duration
	oneWay                             float64
	leaveEvery                         time.Duration
	faultsFor                          time.Duration
}

type eventKind uint8

const (
	evDeliver eventKind = iota
	evWake
	evSaved
	evGuard
	evWant
	evUnwant
	evResume
	evStart
	evCrash
	evPause
	evPart
	evHeal
	evLeave
	evRelease
	evCalm
)

type event struct {
	at   int64
	seq  uint64
	kind eventKind
	who  int8
	arg  int32
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// host is a host, the shell on it, and the command that the shell has started.
type host struct {
	g    *gate
	up   bool
	life int32
	// local = offset + rate × true time, less what was slept where clocks stop.
	rate   float64
	offset int64
	// away says that the process stands still until backAt; asleep, that the whole host does. rest are effects that it had not carried out yet,
	// mail what has arrived meanwhile.
	away, asleep bool
	backAt       int64
	sleptAt      int64
	rest         []policy.Effect
	held         []event
	// crashIn and pauseIn are how many effects from now the process dies, or stands still; zero is never.
	crashIn, pauseIn int
	wakeAt           int64
	disk             policy.State
	writing, queued  policy.State
	saving, again    bool
	saveNumber       int32
	run              run
}

// run is a command and its guard.
type run struct {
	active, deaf, orphan, termed bool
	number                       int32
	token                        wire.Ref
	until                        policy.Time // local
	endAt                        int64       // true: by itself, or after TERM
	killAt                       int64       // true: of an orphan
	words, said                  []wire.Message
}

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
		ids = append(ids, wire.MemberID{15: byte(i + 1)})
	}
	return names, ids
}

func newWorld(p plan, s shell) *world {
	w := &world{p: p, shell: s, dice: rand.New(rand.NewPCG(p.seed, 1)), entropy: rand.NewPCG(p.seed, 2)}
	roster, err := ballot.NewRoster(names(p.members))
	if err != nil {
		panic(err)
	}
	w.hosts = make([]host, p.members)
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
		w.start(i, &roster)
	}
	w.every(p.crashEvery, evCrash)
	w.every(p.pauseEvery, evPause)
	w.every(p.partEvery, evPart)
	w.every(p.leaveEvery, evLeave)
	w.after(int64(p.faultsFor), evCalm, 0, 0)
	return w
}

func (w *world) config(i int, roster *ballot.Roster) ballot.Config {
	return ballot.Config{
		Gate: 7, Roster: roster, Self: i, Lease: w.p.lease, MostLease: w.p.lease, KillAfter: w.p.killAfter, Margin: w.p.margin,
		Rho: 0.01, Patience: w.p.patience, Entropy: w.entropy,
	}
}

// local is a host's clock now, and trueAt when it will show a time.
func (w *world) local(i int) policy.Time {
	h := &w.hosts[i]
	return policy.Time(h.offset + int64(h.rate*float64(w.now)))
}

func (w *world) trueAt(i int, t policy.Time) int64 {
	h := &w.hosts[i]
	return int64(float64(int64(t)-h.offset)/h.rate) + 1
}

func (w *world) instant(i int) policy.Instant {
	return policy.Instant{Time: w.local(i), Wall: wallEpoch + w.now}
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

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%.6f s: %s", float64(w.now)/1e9, fmt.Sprintf(format, args...))
	}
}

func (w *world) tell(format string, args ...any) {
	if w.log != nil {
		w.log("%11.6f %s", float64(w.now)/1e9, fmt.Sprintf(format, args...))
	}
}

func (w *world) happen(e event) {
	i := int(e.who)
	h := &w.hosts[i]
	switch e.kind {
	case evDeliver:
		switch {
		case !h.up || h.asleep:
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
		if e.arg != h.life {
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
		if !h.up {
			w.start(i, h.g.cfg.Roster)
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
		w.apart = [8]uint8{}
	case evLeave:
		if h.up && !h.away && !w.calm {
			w.tell("%d leaves", i)
			w.ev.Kind = policy.Leave
			w.check.served(i)
			w.step(i)
		}
		w.every(w.p.leaveEvery, evLeave)
	case evRelease:
		for k := range h.run.said {
			w.send(&h.run.said[k])
		}
	case evCalm:
		w.heal()
	}
}

func (w *world) start(i int, roster *ballot.Roster) {
	h := &w.hosts[i]
	h.up, h.away, h.rest, h.held = true, false, nil, nil
	h.life++
	h.crashIn, h.pauseIn, h.saving, h.again = 0, 0, false, false
	w.tell("%d starts", i)
	if h.g != nil && w.shell.keepsToken {
		h.g.running = false
	} else {
		h.g = newGate(w.config(i, roster))
	}
	w.after(w.around(w.p.wantEvery), evWant, i, h.life)
	w.ev.Kind, w.ev.State = policy.Started, h.disk
	if w.shell.keepsToken && h.life > 1 {
		w.ev.Kind = policy.Finished
	}
	w.step(i)
}

// step gives w.ev to a machine and carries out what it asks for.
func (w *world) step(i int) {
	h := &w.hosts[i]
	w.out = h.g.Step(w.instant(i), &w.ev, w.out[:0])
	if w.log != nil {
		w.tellStep(i)
	}
	if w.err == nil {
		w.check.stepped(i)
	}
	w.perform(i, w.out)
}

func (w *world) perform(i int, out []policy.Effect) {
	h := &w.hosts[i]
	for n := range out {
		if h.crashIn > 0 {
			if h.crashIn--; h.crashIn == 0 {
				w.crash(i, w.happens(w.p.powerCut))
				return
			}
		}
		if h.pauseIn > 0 {
			if h.pauseIn--; h.pauseIn == 0 {
				h.rest = append([]policy.Effect(nil), out[n:]...)
				w.pause(i, w.happens(w.p.asleep))
				return
			}
		}
		switch e := &out[n]; e.Kind {
		case policy.Save:
			w.save(i, &e.State)
		case policy.Send:
			w.send(&e.Msg)
		case policy.Run:
			w.run(i, e)
		case policy.Extend:
			if h.run.active && !h.run.orphan {
				h.run.until = e.Until
				w.guard(i)
			}
		case policy.Stop:
			if h.run.active && !h.run.termed {
				w.term(i)
				w.guard(i)
			}
		case policy.Entrust:
			h.run.words = append(h.run.words, e.Msg)
		case policy.Gone:
			w.crash(i, false)
			return
		case policy.Took, policy.Gave, policy.Announce, policy.Tell:
		}
	}
	if at, ok := h.g.NextWake(); ok {
		h.wakeAt = max(w.trueAt(i, at), w.now+1)
		w.at(h.wakeAt, evWake, i, 0)
	} else {
		h.wakeAt = 0
	}
}

func (w *world) send(m *wire.Message) {
	from, to := int(m.From[15])-1, int(m.To[15])-1
	if w.apart[from]&(1<<to) != 0 || w.happens(w.p.loss) {
		return
	}
	for copies := 1; copies > 0; copies-- {
		if w.happens(w.p.duplicate) {
			copies++
		}
		d := int64(w.p.latency) + w.dice.Int64N(int64(w.p.jitter)+1)
		if w.happens(w.p.late) {
			d += w.around(w.p.lateBy)
		}
		var at int32
		if n := len(w.free); n > 0 {
			at, w.free = w.free[n-1], w.free[:n-1]
			w.mail[at] = *m
		} else {
			at = int32(len(w.mail))
			w.mail = append(w.mail, *m)
		}
		w.after(d, evDeliver, to, at)
	}
}

// Disks.

func (w *world) save(i int, s *policy.State) {
	h := &w.hosts[i]
	if h.saving {
		h.again, h.queued = true, *s
		return
	}
	h.saving, h.writing = true, *s
	h.saveNumber++
	d := int64(w.p.saveFor)
	if w.happens(w.p.slow) {
		d = w.around(w.p.slowFor)
	}
	w.after(d, evSaved, i, h.saveNumber)
}

func (w *world) onSaved(i int, number int32) {
	h := &w.hosts[i]
	switch {
	case !h.up || !h.saving || h.saveNumber != number:
		return
	case h.away:
		h.held = append(h.held, event{kind: evSaved, who: int8(i), arg: number})
		return
	}
	h.saving = false
	failed := w.happens(w.p.saveFails)
	if !failed {
		h.disk = h.writing
	}
	if h.again {
		h.again = false
		w.save(i, &h.queued)
		return
	}
	w.ev.Kind, w.ev.Failed = policy.Saved, failed
	w.step(i)
}

// Commands and their guards.

func (w *world) run(i int, e *policy.Effect) {
	h := &w.hosts[i]
	late := w.local(i) >= e.StartBy
	if h.run.active {
		w.fail("%d starts a second command", i)
		return
	}
	h.run = run{number: h.run.number + 1, token: e.Token, until: e.Until, words: h.run.words[:0], said: h.run.said}
	if late {
		h.run.endAt = w.now + 1
		h.run.active, h.run.termed = true, true // Nothing was started: Finished follows.
		h.run.token.Seq = 0
		w.at(h.run.endAt, evGuard, i, h.run.number)
		return
	}
	h.run.active, h.run.deaf = true, w.happens(w.p.deaf)
	h.run.endAt = w.now + min(w.around(w.p.runFor), 4*int64(w.p.runFor))
	w.starts++
	w.check.started(i)
	w.guard(i)
}

// term tells a command to end.
func (w *world) term(i int) {
	r := &w.hosts[i].run
	r.termed = true
	if !r.deaf {
		r.endAt = min(r.endAt, w.now+termTakes)
	}
}

// guard does what a guard does at this time, and sets its alarm.
func (w *world) guard(i int) {
	h := &w.hosts[i]
	r := &h.run
	if r.token.Seq == 0 {
		w.ended(i)
		return
	}
	next := r.endAt
	if r.orphan {
		next = min(next, r.killAt)
	}
	if !(w.shell.agentIsGuard && (h.away || !h.up)) && !(w.shell.outlives && r.orphan) {
		term, kill := h.g.cfg.Fence(r.until)
		termAt, killAt := w.trueAt(i, term), w.trueAt(i, kill)
		if !r.termed && w.now >= termAt {
			w.term(i)
		}
		next = min(r.endAt, next, killAt)
		if !r.termed {
			next = min(next, termAt)
		}
	}
	if w.now >= next {
		w.ended(i)
		return
	}
	w.at(next, evGuard, i, r.number)
}

// ended: nothing is left of a command.
func (w *world) ended(i int) {
	h := &w.hosts[i]
	r := &h.run
	r.active = false
	w.check.stopped(i)
	if r.orphan {
		if r.token.Seq != 0 {
			w.lastWords(i)
		}
		return
	}
	if h.away {
		h.held = append(h.held, event{kind: evGuard, who: int8(i), arg: r.number})
		return
	}
	w.ev.Kind = policy.Finished
	w.step(i)
}

func (w *world) lastWords(i int) {
	r := &w.hosts[i].run
	r.said = append(r.said[:0], r.words...)
	for n := range int64(3) {
		w.at(w.now+n*25*ms, evRelease, i, 0)
	}
}

// Faults.

func (w *world) onCrash(i int) {
	h := &w.hosts[i]
	if !h.up || w.calm {
		return
	}
	if w.happens(w.p.midStep) && !h.away {
		h.crashIn = 1 + w.dice.IntN(6)
		return
	}
	w.crash(i, w.happens(w.p.powerCut))
}

// crash ends a process, or the whole host.
func (w *world) crash(i int, host bool) {
	h := &w.hosts[i]
	w.tell("%d crashes (host %v)", i, host)
	if h.saving && w.dice.IntN(2) == 0 {
		h.disk = h.writing
	}
	h.up, h.saving = false, false
	slept := h.asleep
	h.away, h.asleep, h.rest, h.held = false, false, nil, nil
	w.check.crashed(i)
	r := &h.run
	switch {
	case host || slept:
		r.active = false
		w.check.stopped(i)
	case r.active && r.token.Seq != 0:
		r.orphan = true
		if !w.shell.outlives {
			w.term(i)
			r.killAt = w.now + orphanGrace
			w.guard(i)
		} else {
			r.killAt = 1 << 62
			w.guard(i)
		}
	case r.active:
		r.active = false
	case w.shell.alwaysReleases:
		w.lastWords(i)
	}
	w.after(w.around(w.p.downFor)+100*ms, evStart, i, 0)
}

func (w *world) onPause(i int) {
	h := &w.hosts[i]
	if !h.up || h.away || w.calm {
		return
	}
	if w.happens(w.p.midPause) {
		h.pauseIn = 1 + w.dice.IntN(6)
		return
	}
	w.pause(i, w.happens(w.p.asleep))
}

// pause stops a process, or suspends its host, command and guard included.
func (w *world) pause(i int, asleep bool) {
	h := &w.hosts[i]
	d := w.around(w.p.pauseFor)
	w.tell("%d stands still for %.3f s (host %v)", i, float64(d)/1e9, asleep)
	h.away, h.asleep, h.backAt, h.sleptAt = true, asleep, w.now+d, w.now
	if asleep {
		w.check.stopped(i)
	}
	w.at(h.backAt, evResume, i, 0)
}

func (w *world) resume(i int) {
	h := &w.hosts[i]
	w.tell("%d goes on", i)
	wasAsleep := h.asleep
	h.away, h.asleep = false, false
	if wasAsleep {
		if w.shell.clockStops {
			h.offset -= int64(h.rate * float64(w.now-h.sleptAt))
		}
		if r := &h.run; r.active {
			if r.endAt > h.sleptAt { // It did not run meanwhile.
				r.endAt += w.now - h.sleptAt
			}
			w.guard(i)
			if r.active && r.token.Seq != 0 {
				w.check.resumed(i)
			}
		}
		w.ev.Kind = policy.Suspended
		if len(h.rest) == 0 {
			w.step(i)
		}
	} else if h.run.active {
		w.guard(i)
	}
	rest, held := h.rest, h.held
	h.rest, h.held = nil, nil
	life := h.life
	w.perform(i, rest)
	for _, e := range held {
		switch {
		case !h.up || h.life != life:
		case h.away:
			h.held = append(h.held, e)
		case e.kind == evGuard:
			w.ev.Kind = policy.Finished
			w.step(i)
		case e.kind == evSaved:
			w.onSaved(i, e.arg)
		default:
			w.happen(e)
		}
	}
}

func (w *world) onPart() {
	if w.calm {
		return
	}
	side := uint8(w.dice.IntN(1 << w.p.members))
	oneWay := w.happens(w.p.oneWay)
	for i := range w.p.members {
		switch mine := side&(1<<i) != 0; {
		case mine:
			w.apart[i] = ^side
		case !oneWay:
			w.apart[i] = side
		}
	}
	w.tell("the network is parted: %03b, one way %v", side, oneWay)
	w.after(w.around(w.p.partFor), evHeal, 0, 0)
}

// heal ends all faults: everybody is up and reached.
func (w *world) heal() {
	w.calm = true
	w.apart = [8]uint8{}
	w.p.loss, w.p.late, w.p.duplicate, w.p.slow, w.p.saveFails = 0, 0, 0, 0, 0
	w.tell("all is healed")
	for i := range w.hosts {
		h := &w.hosts[i]
		h.crashIn, h.pauseIn = 0, 0
		if h.away {
			h.backAt = w.now
			w.resume(i)
		}
		switch {
		case !h.up:
			w.start(i, h.g.cfg.Roster)
		case h.g.leaving:
			w.crash(i, true)
			w.start(i, h.g.cfg.Roster)
		}
		w.at(w.now, evWant, i, h.life)
	}
}

func (w *world) tellStep(i int) {
	what := w.ev.Kind.String()
	if w.ev.Kind == policy.Received {
		what = fmt.Sprintf("%s from %d %s", kindName(w.ev.Msg.Kind), w.ev.Msg.From[15]-1, seqName(w.ev.Msg.Token.Seq))
	}
	h := &w.hosts[i]
	promised, end := h.g.b.Lease()
	state := fmt.Sprintf("promised %v for %.3f", promised, float64(end-w.local(i))/1e9)
	if t := h.g.b.Token(); t != nil {
		state += fmt.Sprintf(", holds %s for %.3f", seqName(t.Seq), float64(h.g.b.Until()-w.local(i))/1e9)
	}
	w.tell("%d %s [%s]", i, what, state)
	for n := range w.out {
		switch e := &w.out[n]; e.Kind {
		case policy.Send:
			w.log("              %s to %d %s", kindName(e.Msg.Kind), e.Msg.To[15]-1, seqName(e.Msg.Token.Seq))
		case policy.Tell:
			w.log("              %s", gateNotes.Of(e.Note).Name)
		case policy.Entrust, policy.Announce:
		case policy.Save, policy.Run, policy.Extend, policy.Stop, policy.Took, policy.Gave, policy.Gone:
			w.log("              %v %s", e.Kind, seqName(e.Token.Seq))
		}
	}
}

func seqName(s wire.Seq) string {
	return fmt.Sprintf("%v/%d", ballot.EpochOf(s), uint64(s)-uint64(ballot.EpochOf(s)))
}
