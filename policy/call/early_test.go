package call_test

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// R4: a home that has passed the token on tells the receiver of the other waiters at once. If that overtakes the
// Commit, the receiver answers that it does not hold the token. It has to be told again as soon as it does, whichever
// of its answer and its heartbeat comes first; otherwise the others wait for an eighth of a patience.
func TestAHolderThatIsToldTooEarlyIsToldAgain(t *testing.T) {
	for name, late := range map[string]bool{"the answer comes first": false, "the heartbeat comes first": true} {
		t.Run(name, func(t *testing.T) {
			f := withToken(t, 6)
			home := f.home()
			next, last := (home+1)%6, (home+2)%6
			f.step(home, policy.Event{Kind: policy.Wanted})
			f.advance(skip)
			for _, waits := range []int{next, last} {
				f.step(waits, policy.Event{Kind: policy.Wanted})
				f.advance(10 * delay)
			}
			var commit, where *wire.Message
			f.lost = func(m *wire.Message) bool {
				switch {
				case m.Kind == handoff.KindCommit && m.From == id(home) && commit == nil:
					commit = new(*m)
					return true
				case m.Kind == call.KindWhere && m.From == id(next) && where == nil:
					where = new(*m)
					f.coming = append(f.coming, coming{f.now.Add(delay), *commit})
					return late
				case m.Kind == handoff.KindToken && m.From == id(home) && commit != nil, where == nil || !late:
				case m.From == id(next) && m.To == id(home):
					f.coming = append(f.coming, coming{f.now.Add(delay), *m}, coming{f.now.Add(delay), *where})
					late = false
					return true
				}
				return false
			}
			f.step(home, policy.Event{Kind: policy.Finished})
			f.advance(10 * delay)
			if where == nil || !slices.Contains(f.runs, next) {
				t.Fatalf("member %d is not told too early: %v", next, f.runs)
			}
			f.step(next, policy.Event{Kind: policy.Finished})
			f.advance(10 * delay)
			if !slices.Contains(f.runs, last) {
				t.Errorf("member %d still waits", last)
			}
		})
	}
}
