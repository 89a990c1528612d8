package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/trace"
	"github.com/wanderd/wanderd/wire"
)

// Words returns the words in which a wandering token's trace is written.
func Words() trace.Words {
	return trace.Words{
		Ran: func(s *policy.State) wire.TokenID { return soft.MemoOf(&s.Memo).Token },
		Nonce: func(m *wire.Message) (said string, none bool) {
			if m.Kind == guardian.KindHeard || m.Kind == wander.KindSeen {
				return time.Duration(m.Nonce).Round(time.Millisecond).String() + " ago", true
			}
			if m.Kind == wander.KindUnseen && m.Nonce > 0 {
				leads := guardian.TrailOf(&m.Load)
				return leads[0].Short() + " asks", true
			}
			return "", m.Kind == guardian.KindHeartbeat
		},
		Guardians: func(m *wire.Message) []wire.MemberID {
			if m.Kind == wander.KindUnseen {
				return nil
			}
			trail := guardian.TrailOf(&m.Load)
			return trail[:trail.Len()]
		},
		Drawn: []policy.Note{
			wander.NoteArrived, wander.NoteRan, handoff.NoteOffered, handoff.NotePassed, handoff.NoteTokenAgain,
			handoff.NoteAckAgain,
			guardian.NoteStrayWord,
		},
	}
}
