package wire

import (
	"encoding/binary"
	"time"
)

// Offsets in the content; the package comment draws them.
const (
	atGate      = 0
	atSlot      = atGate + 8
	atLastSlot  = atSlot + 1
	atKind      = atLastSlot + 1
	atFrom      = atKind + 1
	atTo        = atFrom + 16
	atHandoff   = atTo + 16
	atNonce     = atHandoff + 8
	atBirth     = atNonce + 8
	atGenerator = atBirth + 8
	atRandom    = atGenerator + 16
	atSeq       = atRandom + 8
	atRoute     = atSeq + 8
	atTrail     = atRoute + routeSize
	atOp        = atTrail + trailSize
	atAge       = atOp + 4

	// ContentSize is the length of a message's content in bytes: Append writes this many, and Parse needs at least this many.
	ContentSize = atAge + 8
)

// Append appends the content of m, unsigned and unencrypted: ContentSize bytes.
func (m *Message) Append(dst []byte) []byte {
	be := binary.BigEndian
	dst = be.AppendUint64(dst, uint64(m.Gate))
	dst = append(dst, m.Token.Slot, m.Token.LastSlot, byte(m.Kind))
	dst = append(dst, m.From[:]...)
	dst = append(dst, m.To[:]...)
	dst = be.AppendUint64(dst, uint64(m.Handoff))
	dst = be.AppendUint64(dst, uint64(m.Nonce))
	dst = be.AppendUint64(dst, uint64(m.Token.ID.Birth))
	dst = append(dst, m.Token.ID.Generator[:]...)
	dst = be.AppendUint64(dst, m.Token.ID.Random)
	dst = be.AppendUint64(dst, uint64(m.Token.Seq))
	dst = m.Token.Route.append(dst)
	dst = m.Token.Trail.append(dst)
	dst = be.AppendUint32(dst, m.Token.Op)
	return be.AppendUint64(dst, uint64(m.Token.Age))
}

// Parse parses the output of Append. It ignores bytes after the content: they are an extension of a later version. ok is false, and
// the message zero, if the content is too short or breaks a rule of all kinds.
func Parse(content []byte) (m Message, ok bool) {
	if len(content) < ContentSize {
		return Message{}, false
	}
	be := binary.BigEndian
	m.Gate = GateID(be.Uint64(content[atGate:]))
	m.Token.Slot, m.Token.LastSlot = content[atSlot], content[atLastSlot]
	m.Kind = Kind(content[atKind])
	m.From = MemberID(content[atFrom:atTo])
	m.To = MemberID(content[atTo:atHandoff])
	m.Handoff = HandoffID(be.Uint64(content[atHandoff:]))
	m.Nonce = Nonce(be.Uint64(content[atNonce:]))
	m.Token.ID.Birth = int64(be.Uint64(content[atBirth:]))
	m.Token.ID.Generator = MemberID(content[atGenerator:atRandom])
	m.Token.ID.Random = be.Uint64(content[atRandom:])
	m.Token.Seq = Seq(be.Uint64(content[atSeq:]))
	m.Token.Route = parseRoute(content[atRoute:])
	m.Token.Trail = parseTrail(content[atTrail:])
	m.Token.Op = be.Uint32(content[atOp:])
	m.Token.Age = time.Duration(be.Uint64(content[atAge:]))
	if !m.wellFormed() {
		return Message{}, false
	}
	return m, true
}

// wellFormed checks the rules that apply to all kinds of message. Each protocol checks the rules of its own kinds.
func (m *Message) wellFormed() bool {
	t := &m.Token
	return !m.From.IsZero() && !m.To.IsZero() && m.From != m.To && t.Slot <= t.LastSlot && t.LastSlot < MaxSlots &&
		t.ID.Birth >= 0 && t.ID.Birth <= MaxBirth && t.Seq <= MaxSeq && t.Age >= 0 && t.Age <= MaxAge && t.Route.wellFormed() && t.Trail.wellFormed()
}
