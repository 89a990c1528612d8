package call

import (
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/trace"
	"github.com/wanderd/wanderd/wire"
)

// Words returns the words in which the trace of a token on call is written.
func Words() trace.Words {
	return trace.Words{
		Ran:   func(s *policy.State) wire.TokenID { return soft.MemoOf(&s.Memo).Token },
		Nonce: nonce, About: about, Guardians: guardians,
		Drawn: []policy.Note{
			call.NoteArrived, call.NoteRan, handoff.NoteOffered, handoff.NotePassed, handoff.NoteTokenAgain,
			handoff.NoteAckAgain, guardian.NoteStrayWord,
		},
	}
}

// nonce describes the nonce of a message in which it is an age or a pause.
func nonce(m *wire.Message) (said string, none bool) {
	d := time.Duration(m.Nonce).Round(time.Millisecond)
	switch m.Kind {
	case call.KindCall:
		if m.Nonce == 0 {
			return "withdrawn", true
		}
		return fmt.Sprintf("waits %v", d), true
	case call.KindQueued:
		return fmt.Sprintf("again in %v", d), true
	case guardian.KindHeard:
		return fmt.Sprintf("%v ago", d), true
	case call.KindSeek, call.KindNext, guardian.KindHeartbeat:
		return "", true
	}
	return "", false
}

// about describes the places and the waiters that a message names, and what it tells of a soak.
func about(m *wire.Message) string {
	var said []string
	holder, home := call.Places(m)
	if !holder.IsZero() {
		said = append(said, "holder "+sim.MemberName(sim.IndexOf(holder)))
	}
	if !home.IsZero() {
		said = append(said, "home "+sim.MemberName(sim.IndexOf(home)))
	}
	for i, age := range call.Waits(m) {
		if i == 0 {
			said = append(said, "waits:")
		}
		said = append(said, age.Round(time.Millisecond).String())
	}
	if left := guardian.SoakLeft(&m.Load); left > 0 {
		said = append(said, "soaks for "+left.String())
	}
	return strings.Join(said, " ")
}

// guardians returns the homes in the trail of a message's token.
func guardians(m *wire.Message) []wire.MemberID {
	switch m.Kind {
	case call.KindCall, call.KindQueued, call.KindNext, call.KindWhere, call.KindSeek, call.KindNone:
		return nil
	}
	trail := guardian.TrailOf(&m.Load)
	return trail[:trail.Len()]
}
