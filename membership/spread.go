package membership

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/timing"
)

// memberlist passes news on at the ticks of its gossip. Each tick wakes the processor, even without news, and this was
// most of the cost of an agent at rest. So the ticks are far apart here, and a member with news pings some members at
// once: a ping and its answer carry the news that waits.
const (
	// gossipEvery is the time between two ticks of memberlist.
	gossipEvery = 500 * time.Millisecond
	// spreadRounds is how many rounds a member with news makes, spreadTo how many others it pings in each, and
	// spreadEvery the time between two rounds.
	spreadRounds = 3
	spreadEvery  = 200 * time.Millisecond
	spreadTo     = 3
)

// spread passes news on until ctx is done. A round comes spreadEvery after the one before, however much news there is.
func (m *Membership) spread(ctx context.Context) {
	for {
		select {
		case <-m.fresh:
		case <-ctx.Done():
			return
		}
		for rounds := spreadRounds; rounds > 0; rounds-- {
			for _, to := range m.nextToHear() {
				m.working.Go(func() { _ = m.ping(&to) })
			}
			if !timing.Sleep(ctx, spreadEvery) {
				return
			}
			select {
			case <-m.fresh:
				rounds = spreadRounds + 1
			default:
			}
		}
	}
}

// nextToHear returns the members to ping in a round: some that have a gate to which this member carries a directive
// without having the gate itself, because nobody else keeps and repeats that directive, and then some of all.
func (m *Membership) nextToHear() []Member {
	others, errands := m.peers.Others(), m.broadcasts.Errands()
	var first []Member
	for _, o := range others {
		if slices.ContainsFunc(errands, o.Has) {
			first = append(first, o)
		}
	}
	return append(peers.Some(first, spreadTo), peers.Some(others, spreadTo)...)
}

// smallFleet is the size of the largest fleet in which news of members is passed on at once, and not only at the ticks.
// A large fleet that starts, or whose machines are busy, has so much news that its packets would make the machines
// late, and late members become suspect.
const smallFleet = 64

// haveSmallNews signals that news about a member waits to be passed on. It does not block.
func (m *Membership) haveSmallNews() {
	if len(m.peers.Current().Members) <= smallFleet {
		timing.Signal(m.fresh)
	}
}

// ping returns nil if a member answers.
func (m *Membership) ping(to *Member) error {
	_, err := m.list.Ping(identity.NodeName(to.Name, to.ID), net.UDPAddrFromAddrPort(to.Addr))
	return err
}
