package agent

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
)

// However long this process stands still between two readings, and whether or not a suspension was noticed, a deadline is never converted
// to a time that is too late.
func TestADeadlineInBootTimeIsNeverTooLate(t *testing.T) {
	asleep, up := 3*time.Hour, 5*time.Hour
	stands := time.Duration(0)
	c := newClock(host{
		wall:   time.Now,
		asleep: func() time.Duration { up += stands; return asleep },
		boot:   func() boot { return boot{up: up} },
	})
	now := c.now().Time
	if got, latest := c.sinceBoot(now.Add(time.Minute)), up+time.Minute+time.Second; got > latest || got < latest-2*time.Second {
		t.Errorf("%v, and not %v", got, latest)
	}
	before := c.sinceBoot(now)
	asleep, up = asleep+time.Hour, up+time.Hour
	if got := c.sinceBoot(now); got != before {
		t.Errorf("a suspension moves it from %v to %v", before, got)
	}
	c.wokeUp()
	if got := c.sinceBoot(c.now().Time); got < before+time.Hour || got > up+time.Second {
		t.Errorf("%v after a suspension that was noticed, at %v", got, up)
	}
	stands = time.Hour
	if late := newClock(c.host); late.sinceBoot(late.now().Time) > up {
		t.Errorf("%v, at %v", late.sinceBoot(late.now().Time), up)
	}
	if c.sinceBoot(0) != 0 {
		t.Error("no end has become one")
	}
}

// extended is a run that remembers until when it was extended.
type extended struct {
	pretendRun
	until []time.Duration
}

func (e *extended) Extend(until time.Duration) { e.until = append(e.until, until) }

func TestAGrantThatIsExtendedBeforeItsHookHasStartedIsExtended(t *testing.T) {
	for _, until := range []policy.Time{0, 5} {
		run := &extended{}
		l := &launch{}
		extend := func(until time.Duration) { l.tell(func(run HookRun) { run.Extend(until) }) }
		if until > 0 {
			extend(7)
		}
		l.started(run)
		extend(9)
		want := map[policy.Time]int{0: 1, 5: 2}[until]
		if len(run.until) != want || run.until[want-1] != 9 || want > 1 && run.until[0] != 7 {
			t.Errorf("of a grant until %d: %v", until, run.until)
		}
	}
}

var _ HookRun = (*hook.Run)(nil)
