package membership

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/wire"
)

// A member that leaves announces it in its signed metadata. A member that hears this lists it as left, whatever
// memberlist says. The ticks of gossip are too slow for a stop, and end with it. So the leaving member pings the
// others, a few at a time: a ping carries the news, and its answer shows that the news has come.
const (
	// farewellTo is the greatest number of members that are told directly. They tell the others.
	farewellTo = smallFleet
	// farewellAtOnce is how many members are pinged at once: a piece of news is sent six times, and a tick of gossip in
	// between takes three of them.
	farewellAtOnce = 3
	// farewellEvery is how long the member waits for answers before it pings the next members.
	farewellEvery = 100 * time.Millisecond
	// farewellFor is how long members that do not answer are tried, if any other is heard: they are dead, or will hear
	// it from others.
	farewellFor = 400 * time.Millisecond
)

// Leave tells the others that this member leaves on purpose. It returns when they have heard it, or when some have and
// the rest does not answer. It returns an error if no other member was heard within timeout. Afterwards this member no
// longer tries to reach others. Call Shutdown next.
func (m *Membership) Leave(timeout time.Duration) error {
	m.life.Lock()
	defer m.life.Unlock()
	if m.left || m.down {
		return nil
	}
	m.left = true
	m.stop()
	<-m.kept
	m.peers.Leave()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	known, err := m.farewell(ctx)
	if known { // A member that has not heard the rest would take this one for failed.
		_ = m.list.Leave(updateTimeout)
		m.tell(ctx, peers.Some(m.staying(), farewellAtOnce), func(wire.MemberID) {})
	}
	return err
}

// farewell tells the others, and reports whether all know it.
func (m *Membership) farewell(ctx context.Context) (known bool, err error) {
	begun := time.Now()
	told := make(map[wire.MemberID]bool)
	for first := true; ; first = false {
		untold := slices.DeleteFunc(m.staying(), func(o Member) bool { return told[o.ID] })
		heard := m.transport.silence() < time.Since(begun)
		switch {
		case len(untold) == 0:
			return true, nil
		case len(told) >= farewellTo, !first && heard && time.Since(begun) >= farewellFor:
			return false, nil
		case ctx.Err() != nil:
			return false, errors.New("no member answers")
		}
		m.update(updateTimeout) // The news is fresh again, and will be sent before all other news.
		m.tell(ctx, peers.Some(untold, farewellAtOnce), func(id wire.MemberID) { told[id] = true })
	}
}

// staying returns the other members, except those that are known to leave or to have failed.
func (m *Membership) staying() []Member {
	m.peers.Apply(m.mailbox.empty(), time.Now())
	return m.peers.Others()
}

// tell pings some members, and reports each one that answers at once.
func (m *Membership) tell(ctx context.Context, some []Member, answered func(wire.MemberID)) {
	ctx, cancel := context.WithTimeout(ctx, farewellEvery)
	defer cancel()
	answers := make(chan wire.MemberID, len(some))
	for _, to := range some {
		m.working.Go(func() {
			if m.ping(&to) == nil {
				answers <- to.ID
			}
		})
	}
	for range some {
		select {
		case id := <-answers:
			answered(id)
		case <-ctx.Done():
			return
		}
	}
}
