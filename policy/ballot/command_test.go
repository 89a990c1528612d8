package ballot_test

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// run is a command and its guard.
type run struct {
	active, deaf, orphan, termed bool
	// soaks is true once the command is over, and the host soaks.
	soaks bool
	// resumed is true for the rest of a kept grant, after a restart.
	resumed bool
	// demanded is true if the command is a caller's.
	demanded bool
	number   int32
	token    wire.Ref
	until    policy.Time // local
	// fence is when it must end, for an until.
	fence       func(until policy.Time) (term, kill policy.Time)
	endAt       int64 // true: by itself, or after TERM
	killAt      int64 // true: of an orphan
	words, said []wire.Message
}

func (w *world) run(i int, e *policy.Effect) {
	h := &w.hosts[i]
	late := w.local(i) >= e.StartBy || w.isHeldUp(i)
	if h.run.active {
		w.fail("%d starts a second command", i)
		return
	}
	h.run = run{
		number: h.run.number + 1, token: e.Token, until: e.Until, fence: h.fence, demanded: e.Demanded,
		words: h.run.words[:0], said: h.run.said,
	}
	if late {
		h.run.endAt = w.now + 1
		h.run.active, h.run.termed = true, true // Nothing was started: Finished follows.
		h.run.token.Seq = 0
		w.at(h.run.endAt, evGuard, i, h.run.number)
		return
	}
	h.run.active, h.run.deaf = true, w.happens(w.p.deaf)
	h.run.endAt = w.now + min(w.around(w.p.runFor), 4*int64(w.p.runFor))
	if s := w.p.shorter[i]; s > 0 {
		h.run.endAt = w.now + int64(s*float64(h.run.endAt-w.now)) + 1
	}
	w.starts++
	w.check.started(i)
	w.reboots(i)
	if w.p.kind == paced && w.check.waits[i] != 0 {
		w.after(0, evStillWant, i, h.life)
	}
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
	if r.until != 0 && !(w.shell.agentIsGuard && (h.away || !h.up)) && !(w.shell.outlives && r.orphan) {
		term, kill := r.fence(r.until)
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

// ended records that nothing is left of a command.
func (w *world) ended(i int) {
	h := &w.hosts[i]
	r := &h.run
	r.active = false
	if !r.orphan {
		w.check.handedBack(i)
	}
	w.check.stopped(i)
	if r.orphan {
		if r.token.Seq != 0 {
			w.sendPreSigned(i)
		}
		return
	}
	if h.away || len(h.rest) > 0 { // The effects of its last step come first.
		h.held = append(h.held, event{kind: evGuard, who: int8(i), arg: r.number})
		return
	}
	w.finish(i)
}

// finish tells a gate that nothing is left of its command.
func (w *world) finish(i int) {
	h := &w.hosts[i]
	outcome := policy.Succeeded
	switch {
	case w.happens(w.p.fails):
		outcome = policy.Failed
	case w.happens(w.p.notNow):
		outcome = policy.NotNow
	}
	if outcome == policy.Succeeded && w.soaks(i) {
		return
	}
	w.ev.Kind, w.ev.Denied, w.ev.Outcome = policy.Finished, h.run.token.Seq == 0, outcome
	w.finished(i)
}

// succeeded tells a gate that its run has succeeded, and its host has soaked, or was stopped in that.
func (w *world) succeeded(i int, goesOn bool) {
	w.ev.Kind, w.ev.Denied, w.ev.Outcome, w.ev.SoakGoesOn = policy.Finished, false, policy.Succeeded, goesOn
	w.finished(i)
	w.ev.SoakGoesOn = false
}

// finished lets callers whose command was not started go on waiting.
func (w *world) finished(i int) {
	again := w.ev.Denied || w.p.kind == paced
	if w.step(i); again {
		w.stillWant(i)
	}
}

// stillWant sends Wanted again if a caller waits that no run has served: "The next Run ends the demand. If anybody
// waits after that … the shell says it again".
func (w *world) stillWant(i int) {
	if h := &w.hosts[i]; w.check.waits[i] != 0 && h.up && !h.away {
		w.ev.Kind = policy.Wanted
		w.step(i)
	}
}

func (w *world) sendPreSigned(i int) {
	r := &w.hosts[i].run
	r.said = append(r.said[:0], r.words...)
	for n := range int64(3) {
		w.at(w.now+n*25*ms, evRelease, i, 0)
	}
}
