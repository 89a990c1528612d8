package ballot_test

import (
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// host is a host, the shell on it, and the command that the shell has started.
type host struct {
	g gate
	// older is a copy of what was on the disk some saves ago, writes how many there were.
	older  policy.State
	writes int
	up     bool
	life   int32
	// local = offset + rate × true time, minus the time asleep where clocks stop.
	rate   float64
	offset int64
	// away is true while the process stands still until backAt; asleep is true if the whole host does. rest are the
	// effects that it had not carried out yet; mail is what has arrived meanwhile.
	away, asleep bool
	backAt       int64
	sleptAt      int64
	rest         []policy.Effect
	// sees are the hosts that its membership believes to be live. since is when it was here again last, and downSince
	// when it was down.
	sees             hostSet
	since, downSince int64
	held             []event
	// crashIn and pauseIn are after how many effects the process dies, or stands still; zero means never.
	crashIn, pauseIn int
	wakeAt           int64
	// settled is true if it has started when all faults were over; fence is when a command ends that it starts now.
	settled         bool
	fence           func(until policy.Time) (term, kill policy.Time)
	disk            policy.State
	writing, queued policy.State
	saving, again   bool
	saveNumber      int32
	run             run
	// directed is the last word of an operator that it knows, and state is what its process has last asked to save.
	directed wire.Directive
	state    policy.State
	// behind is how far its wall clock was set back before it started.
	behind int64
}

// setBack draws how far a host's clock is behind when its process starts again: one in four hosts has no clock that
// runs without power. Operations that are due by the clock have a test of their own. A clock that is a day behind the
// epochs refuses them; and epochs run ahead of all clocks where members propose more than once a second, as here.
func (w *world) setBack(i int) int64 {
	dice := rand.New(rand.NewPCG(w.p.seed, uint64(w.hosts[i].life)<<8+uint64(i)))
	if dice.IntN(4) > 0 {
		return 0
	}
	return min(dice.Int64N(int64(24*time.Hour)), int64(23*time.Hour+50*time.Minute))
}

func (w *world) start(i int) {
	h := &w.hosts[i]
	w.forget(i)
	h.up, h.away, h.rest, h.held, h.since = true, false, nil, nil, w.now
	h.life++
	h.settled = w.calm && !w.staysOut(i)
	if h.life > 1 && w.p.minInterval == 0 && w.p.forgets == 0 {
		h.behind = w.setBack(i)
	}
	h.crashIn, h.pauseIn, h.saving, h.again = 0, 0, false, false
	w.tell("%d starts", i)
	w.look()
	if h.g != nil && w.shell.keepsToken && !h.g.Leaving() {
		w.ev.Kind, w.ev.Denied = policy.Finished, true
	} else {
		h.g = w.newGate(i)
		cfg := w.config(i)
		h.fence = cfg.Fence
		w.ev.Kind, w.ev.State, w.ev.Denied = policy.Started, h.disk, false
	}
	h.sees, h.state, h.directed = 0, h.disk, h.disk.Directive
	w.after(w.around(w.p.wantEvery), evWant, i, h.life)
	w.takeUp(i)
	w.step(i)
	if w.p.resumeEvery > 0 && h.directed != w.newest() {
		w.check.once.knows &^= 1 << i
		w.after(w.around(w.p.patience), evDirected, i, 0)
	}
}

// step gives w.ev to a machine and carries out what it asks for.
func (w *world) step(i int) {
	h := &w.hosts[i]
	w.tellReady(i)
	w.out = h.g.Step(w.instant(i), &w.ev, w.out[:0])
	if w.shell.marks != nil && w.shell.marks.Fresh() > w.fresh {
		w.fresh, w.freshAt = w.shell.marks.Fresh(), w.now
	}
	if w.log != nil {
		w.traceStep(i)
	}
	if w.seen != nil {
		w.seen.See(w.out)
	}
	if w.err == nil {
		w.check.stepped(i)
		w.check.soak.stepped(w, i)
		if w.p.kind == paced {
			w.check.pace.stepped(i)
			w.check.once.stepped(w, i)
		}
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
			e.State.Directive = h.directed
			h.state = e.State
			w.save(i, &e.State)
		case policy.Send:
			if !w.descriptor.WellFormed(&e.Msg) {
				w.fail(notWellFormed, i, e.Msg)
			}
			w.send(&e.Msg)
		case policy.Run:
			w.run(i, e)
		case policy.Extend:
			if h.run.active && !h.run.orphan {
				h.run.until = e.Until
				w.check.extended(i)
				w.guard(i)
			}
		case policy.Stop:
			switch {
			case h.run.soaks:
				w.after(0, evSoaked, i, h.run.number)
			case h.run.active && !h.run.termed:
				w.check.lost(i)
				w.term(i)
				w.guard(i)
			}
		case policy.PreSign:
			h.run.words = append(h.run.words, e.Msg)
		case policy.Gone:
			w.check.gone(i)
			w.crash(i, false)
			return
		case policy.Took, policy.Gave, policy.Announce, policy.Tell, policy.Proclaim:
		}
	}
	wakeAt := int64(0)
	if at, ok := h.g.NextWake(); ok {
		wakeAt = max(w.trueAt(i, at), w.now+1)
	}
	if wakeAt != 0 && wakeAt != h.wakeAt {
		w.at(wakeAt, evWake, i, 0)
	}
	h.wakeAt = wakeAt
}

func (w *world) send(m *wire.Message) {
	w.sends++
	if w.forger != nil {
		w.forger.saw(m)
	}
	from, to := int(m.From[15])-1, int(m.To[15])-1
	if w.apart[from]&(1<<to) != 0 || w.happens(w.p.loss) {
		return
	}
	for copies := 1; copies > 0; copies-- {
		if w.happens(w.p.duplicate) {
			copies++
		}
		d := int64(w.p.latency) + w.dice.Int64N(int64(w.p.jitter)+1) + int64(w.p.far[from][to])
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

func (w *world) save(i int, s *policy.State) {
	h := &w.hosts[i]
	if h.saving {
		h.again, h.queued = true, *s
		return
	}
	h.saving, h.writing = true, *s
	h.saveNumber++
	d := int64(w.p.saveFor + w.p.unequal.saves[i])
	if w.happens(w.p.slow) {
		d = w.around(w.p.slowFor)
	}
	w.after(d, evSaved, i, h.saveNumber)
}

func (w *world) onSaved(i int, number int32) {
	h := &w.hosts[i]
	switch {
	case !h.up || !h.saving || h.saveNumber != number, w.staysOut(i) && w.p.stays[i] == staysStuck:
		return
	case h.away:
		h.held = append(h.held, event{kind: evSaved, who: int8(i), arg: number})
		return
	}
	h.saving = false
	failed := w.happens(w.p.saveFails)
	if !failed {
		h.saved()
	}
	if h.again {
		h.again = false
		w.save(i, &h.queued)
		return
	}
	if !failed {
		w.check.pace.durable(i)
	}
	w.ev.Kind, w.ev.Failed = policy.Saved, failed
	w.step(i)
}

// Commands and their guards.
