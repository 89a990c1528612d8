package membership

import (
	"context"
	"slices"
	"time"

	"github.com/wanderd/wanderd/membership/peers"
)

// A member that was cut off has missed news, and no other member repeats old news soon: the less memberlist hears, the
// less it probes. So a member that hears nobody pings the others, one at a time, and then asks members for everything
// until one answers.
const (
	// deafAfter is how long a member that knows others hears nothing before it counts as cut off: otherwise the others
	// are probed, and probe, every second.
	deafAfter = time.Second
	// pingFirst and pingMax bound the pause between two pings, which is a share of the silence.
	pingFirst = 250 * time.Millisecond
	pingMax   = 2 * time.Second
	pingShare = 64
	// askAgain is how many members are asked for everything until one answers.
	askAgain = 3
)

// reconnect pings other members until one is heard, and then brings this member up to date. One run at a time is
// enough.
func (m *Membership) reconnect(ctx context.Context) {
	if !m.reconnecting.CompareAndSwap(false, true) {
		return
	}
	defer m.reconnecting.Store(false)
	pinged, answered, answers := false, []Member(nil), make(chan Member, 1)
	for ; len(answered) == 0 && m.transport.silence() >= deafAfter; pinged = true {
		lost := peers.Some(slices.DeleteFunc(m.All(), func(o Member) bool {
			return o.ID == m.peers.Self || o.State == StateLeft || o.State == StateUntrusted
		}), 1)
		if len(lost) == 0 {
			return
		}
		m.working.Go(func() {
			if m.ping(&lost[0]) == nil {
				select {
				case answers <- lost[0]:
				default:
				}
			}
		})
		select {
		case o := <-answers:
			// the answer may be all that is heard for long, because the others take this member for dead
			answered = append(answered, o)
		case <-time.After(min(max(m.transport.silence()/pingShare, pingFirst), pingMax)):
		case <-ctx.Done():
			return
		}
	}
	if !pinged {
		return
	}
	m.log.Debug().Msg("others are heard again")
	for _, o := range append(answered, peers.Some(m.peers.Others(), askAgain)...) {
		if ctx.Err() != nil || m.joiner.Contact(o.Addr) == nil {
			return
		}
	}
}
