// Package election is Chang and Roberts' election of a leader on claims that survive crashes: "A node wishing to become
// the leader sends a claim message which will travel along the ring […] until it is received by a node which is a
// better leader candidate. A node considers itself the new leader when it receives its own claim message. […] a <TOKEN>
// message which contains the identification, S_claim, of the leader candidate" (k-copies, section 3.3). The better
// candidate is the one further on in the ring's order. The leader's claim goes round once more, to tell all members.
//
//	claim.go   the claims, and UpdateToken
//
// It survives k crashes in a row, like all applications; Mais valem says k + 1 here. The elected leader is alive, and
// the best of the living:
//
//   - A claim that meets a better candidate is kept, not destroyed. If that member crashes, its copies go on.
//   - UpdateToken replaces S_claim if S_claim is known to have crashed: in D. As printed it does so "if currentLeader =
//     S_claim": then a claim whose member crashes before it is known as the leader goes round for ever, and a live
//     leader is replaced if a member crashes that passes its claim on.
//   - The claim that UpdateToken has changed goes round once more, instead of making its member the leader at once:
//     there may be a better one.
//   - A member that is told of a leader which it knows to have crashed does not record it. If members are told of a
//     crash at different times, one may record the crashed leader after the next one.
package election

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/application"
	"github.com/wanderd/wanderd/wire"
)

const (
	// NoteClaimed: this member wants to become the leader.
	NoteClaimed policy.Note = iota + 64
	// NoteKept: this member is a better candidate than Peer, and keeps its claim.
	NoteKept
	// NoteLeader: Peer is the leader; the leader itself notes it first.
	NoteLeader
	// NoteReplaced: Peer, whose claim has returned to it, has crashed; this member's name takes the place of Peer's in
	// it.
	NoteReplaced
)

// Descriptor describes the election.
func Descriptor() policy.Descriptor {
	return application.Descriptor(18, "election", policy.Notes{
		{Note: NoteClaimed, Name: "claimed", Level: policy.Info, Text: "wants to become the leader"},
		{Note: NoteKept, Name: "kept", Level: policy.Debug, Text: "is a better candidate"},
		{Note: NoteLeader, Name: "leader", Level: policy.Info, Text: "there is a leader"},
		{
			Note: NoteReplaced, Name: "replaced", Level: policy.Warn,
			Text: "the leader has crashed; this member claims in its place",
		},
	})
}

// Machine is one member.
type Machine struct {
	ring         kcopies.Config
	candidate    bool
	claims       application.Objects
	participates bool
	// currentLeader is the member that this one knows as the leader; -1 if it knows none.
	currentLeader int
}

// New returns a member of a ring. A candidate claims when it starts or is wanted; any other member claims when it sees
// the claim of a worse candidate.
func New(ring kcopies.Config, candidate bool) *Machine {
	return &Machine{ring: ring, candidate: candidate, claims: application.NewObjects(ring), currentLeader: -1}
}

// Leader returns the member that this one knows as the leader; -1 if it knows none.
func (m *Machine) Leader() int { return m.currentLeader }

// Step handles one event.
func (m *Machine) Step(_ policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	switch ev.Kind {
	case policy.Started:
		if m.candidate {
			return m.claim(out)
		}
	case policy.Wanted:
		return m.claim(out)
	case policy.Received:
		return m.onMessage(&ev.Msg, out)
	case policy.PeersChanged:
		var end kcopies.Outcome
		for j := range m.claims {
			end = kcopies.Outcome{}
			out = m.claims[j].Suspect(ev.Peers, &end, out)
			out = m.ended(&m.claims[j], &end, out)
		}
	case policy.Saved, policy.Finished, policy.Soaks, policy.Unwanted, policy.Suspended, policy.Directed,
		policy.Renew, policy.Leave, policy.Woke:
	}
	return out
}

func (m *Machine) onMessage(msg *wire.Message, out []policy.Effect) []policy.Effect {
	q, ok := m.claims.Of(msg)
	if !ok || !m.isClaim(msg) {
		return out
	}
	var end kcopies.Outcome
	out = m.claims[q].Receive(msg, &end, out)
	return m.ended(&m.claims[q], &end, out)
}

// NextWake returns Never: everything happens by messages.
func (m *Machine) NextWake() (at policy.Time, ok bool) { return 0, false }

// Expects reports whether msg could change anything now.
func (m *Machine) Expects(msg *wire.Message) bool {
	q, ok := m.claims.Of(msg)
	return ok && m.isClaim(msg) && m.claims[q].Expects(msg)
}

// isClaim reports whether a message names a candidate of the ring.
func (m *Machine) isClaim(msg *wire.Message) bool {
	_, data := kcopies.Fields(&msg.Load)
	return int(claimOf(data).sClaim) < len(m.ring.Ring)
}

// Status describes this member. Its holder is the leader.
func (m *Machine) Status(policy.Time) policy.Status {
	s := policy.Status{Phase: "voting", Why: "nothing runs in an election", NextRun: policy.Never}
	if m.currentLeader >= 0 {
		s.Phase, s.Holder = "led", m.ring.Ring[m.currentLeader]
	}
	return s
}

// Facts appends nothing.
func (m *Machine) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }

// String returns one line for traces.
func (m *Machine) String() string {
	if m.currentLeader < 0 {
		return "no leader"
	}
	return fmt.Sprintf("currentLeader S%d", m.currentLeader)
}
