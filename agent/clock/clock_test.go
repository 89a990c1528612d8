package clock

import (
	"runtime"
	"testing"
	"time"
)

func TestTheKernelKnowsItsBoot(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no other system is asked")
	}
	one, other := thisBoot()(), thisBoot()()
	if one.ID == "" || one.ID != other.ID || one.Up <= 0 || other.Up < one.Up {
		t.Errorf("%+v, and then %+v", one, other)
	}
}

// However long this process stands still between two readings, and whether or not a suspension was noticed, a deadline
// is never converted to a time that is too late.
func TestADeadlineInBootTimeIsNeverTooLate(t *testing.T) {
	asleep, up := 3*time.Hour, 5*time.Hour
	stands := time.Duration(0)
	c := New(Host{
		Wall:   time.Now,
		Asleep: func() time.Duration { up += stands; return asleep },
		Boot:   func() Boot { return Boot{Up: up} },
	})
	now := c.Now().Time
	if got, latest := c.SinceBoot(now.Add(time.Minute)), up+time.Minute+time.Second; got > latest ||
		got < latest-2*time.Second {
		t.Errorf("%v, and not %v", got, latest)
	}
	before := c.SinceBoot(now)
	asleep, up = asleep+time.Hour, up+time.Hour
	if got := c.SinceBoot(now); got != before {
		t.Errorf("a suspension moves it from %v to %v", before, got)
	}
	c.WokeUp()
	if got := c.SinceBoot(c.Now().Time); got < before+time.Hour || got > up+time.Second {
		t.Errorf("%v after a suspension that was noticed, at %v", got, up)
	}
	stands = time.Hour
	if late := New(c.Host); late.SinceBoot(late.Now().Time) > up {
		t.Errorf("%v, at %v", late.SinceBoot(late.Now().Time), up)
	}
	if c.SinceBoot(0) != 0 {
		t.Error("no end has become one")
	}
}
