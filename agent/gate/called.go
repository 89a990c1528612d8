package gate

import (
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
)

// called describes who waits for a token that is called, and whom this member calls. It returns nil if the token goes
// round: then no member is a home.
func (g *Gate) called(slot uint8, facts []policy.Fact) *control.Called {
	c := &control.Called{Homes: []control.Guardian{}}
	isCalled := false
	for i := range facts {
		switch f := &facts[i]; {
		case f.Slot != slot:
		case f.Key == policy.KeyHome:
			isCalled = true
			c.Homes = append(c.Homes, control.Guardian{Member: f.Member.String(), Name: g.nameOf(f.Member)})
		case f.Key == policy.KeyWaiters:
			isCalled = true
			c.Queue = &control.Queue{As: f.Text, Waiters: f.Count}
		case f.Key == policy.KeyWaiter && c.Queue != nil:
			c.Queue.Oldest = append(c.Queue.Oldest, control.Waiter{
				Member: f.Member.String(), Name: g.nameOf(f.Member), Since: g.env.Clock.At(f.At), Silent: f.Text != "",
			})
		case f.Key == policy.KeyCalls:
			isCalled = true
			c.Since = g.env.Clock.At(f.At)
		case f.Key == policy.KeyQueued:
			c.Turn = &control.Turn{
				Member: f.Member.String(), Name: g.nameOf(f.Member), At: g.env.Clock.At(f.At), Before: f.Count,
				Held: control.Duration(f.For),
			}
		}
	}
	if !isCalled {
		return nil
	}
	return c
}
