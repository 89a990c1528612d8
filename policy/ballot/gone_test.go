package ballot_test

import "github.com/wanderd/wanderd/policy"

// gone checks that a member that has stopped takes no part any more, whatever its shell still tells it: it does
// nothing, wants no message and no time, and is never due. The lock of the tests has nothing behind its Gone.
func (c *checker) gone(i int) {
	w, g := c.w, c.w.hosts[i].g
	if w.p.kind == lock {
		return
	}
	if at, ok := g.NextWake(); ok {
		w.fail("gone: %d has stopped, and asks to be woken at %v", i, at)
	}
	due := g.(policy.Askable).DueAt(w.instant(i).Time)
	if due != policy.Never {
		w.fail("gone: %d has stopped, and is due at %v", i, due)
	}
	for k := range w.mail[:min(len(w.mail), 16)] {
		if m := &w.mail[k]; m.To == w.roster.ID(i) {
			ev := policy.Event{Kind: policy.Received, Msg: *m}
			if expects, out := g.Expects(m), g.Step(w.instant(i), &ev, nil); expects || len(out) > 0 {
				w.fail("gone: %d has stopped, expects %v %v, and does %v", i, m.Kind, expects, out)
			}
		}
	}
	for _, kind := range []policy.EventKind{policy.Woke, policy.Wanted, policy.Unwanted, policy.Saved} {
		if out := g.Step(w.instant(i), &policy.Event{Kind: kind}, nil); len(out) > 0 {
			w.fail("gone: %d has stopped, and after %v it does %v", i, kind, out)
		}
	}
}
