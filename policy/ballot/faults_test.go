package ballot_test

import "github.com/wanderd/wanderd/policy"

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
	if !h.away {
		h.downSince = w.now
	}
	if h.saving && w.dice.IntN(2) == 0 {
		h.saved()
	}
	h.up, h.saving = false, false
	slept := h.asleep
	h.away, h.asleep, h.rest, h.held = false, false, nil, nil
	w.look()
	w.check.crashed(i)
	r := &h.run
	w.check.keeps(i)
	r.soaks = false
	switch {
	case r.resumed, host || slept:
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
		w.sendPreSigned(i)
	}
	w.after(w.around(w.p.downFor)+int64(w.p.startsAfter), evStart, i, 0)
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
	h.away, h.asleep, h.backAt, h.sleptAt, h.downSince = true, asleep, w.now+d, w.now, w.now
	if asleep {
		w.check.stopped(i)
	}
	w.at(h.backAt, evResume, i, 0)
	w.look()
}

func (w *world) resume(i int) {
	h := &w.hosts[i]
	w.tell("%d goes on", i)
	wasAsleep := h.asleep
	h.away, h.asleep, h.since = false, false, w.now
	w.look()
	if wasAsleep {
		if w.shell.clockStops {
			h.offset -= int64(h.rate * float64(w.now-h.sleptAt))
		}
		if r := &h.run; r.active {
			if r.endAt > h.sleptAt { // It did not run in the meantime.
				r.endAt += w.now - h.sleptAt
			}
			w.guard(i)
			if r.active && r.token.Seq != 0 && !r.resumed {
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
			w.finish(i)
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
	side := hostSet(w.dice.IntN(1 << w.p.members))
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
	w.look()
	w.after(w.around(w.p.partFor), evHeal, 0, 0)
}

// heal ends all faults: every member is up and reachable; or those of a core, and all cuts of single links. In a ring
// whose holders always want the token again, a member that the one before it does not reach has no turn.
func (w *world) heal() {
	w.calm = true
	w.apart = [maxHosts]hostSet{}
	healed := w.p.healed()
	w.p.loss, w.p.late, w.p.duplicate, w.p.slow, w.p.saveFails = 0, 0, 0, 0, 0
	w.p.fails, w.p.notNow = 0, 0
	w.tell("all is healed: %09b", healed)
	w.look()
	for i := range w.hosts {
		h := &w.hosts[i]
		h.crashIn, h.pauseIn = 0, 0
		if w.staysOut(i) {
			w.stay(i)
			continue
		}
		if h.saving {
			w.at(w.now, evSaved, i, h.saveNumber)
		}
		if h.away {
			h.backAt = w.now
			w.resume(i)
		}
		switch {
		case !h.up:
			w.start(i)
		case h.g.Leaving(), w.p.rolledOut:
			w.crash(i, true)
			w.start(i)
		}
		w.at(w.now, evWant, i, h.life)
	}
}
