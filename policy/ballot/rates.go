package ballot

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// rates compares this member's clock with the clock of one other member at a time, by the answers to questions.
type rates struct {
	peer wire.MemberID
	life uint64
	// The first answer was written between asked and heard on this clock, and at theirs on the other clock.
	asked, heard, theirs policy.Time
	// differs is the member whose clock was last found to run at another rate, and rate is this rate: 1.02 is two
	// percent faster than here.
	differs wire.MemberID
	rate    float64
}

// compareFor is the number of leases for which two clocks are compared. Then the next member's turn comes.
const compareFor = 64

// compare takes an answer to the open round. Between two answers, the other clock's progress is known exactly; this
// clock's progress has a lower and an upper bound. So no delay of a message makes equal clocks seem to differ.
func (k *rates) compare(now policy.Time, b *Machine, m *wire.Message, l *load, out []policy.Effect) []policy.Effect {
	began := b.round.began
	over := now.Sub(k.heard) > compareFor*b.cfg.Lease
	if k.peer != m.From || k.life != l.life {
		if k.peer.IsZero() || over || k.peer == m.From {
			k.peer, k.life, k.asked, k.heard, k.theirs = m.From, l.life, began, now, l.clock
		}
		return out
	}
	theirs, least, most := l.clock.Sub(k.theirs), began.Sub(k.heard), now.Sub(k.asked)
	if slowest := lasting(least, b.cfg.Rho); least > 0 && (theirs < slowest || lasting(theirs, b.cfg.Rho) > most) {
		b.cfg.Marks.Hit(markClockRates)
		k.differs, k.rate = m.From, float64(theirs)/(float64(least+most)/2)
		k.peer = wire.MemberID{}
		return policy.AppendTell(out, NoteClockRates, m.From, nil)
	}
	if over {
		k.peer = wire.MemberID{}
	}
	return out
}
