package wire

import "encoding/binary"

// Offsets in the content; the package comment draws them.
const (
	atGate      = 0
	atKind      = atGate + 8
	atFrom      = atKind + 1
	atTo        = atFrom + 16
	atHandoff   = atTo + 16
	atNonce     = atHandoff + 8
	atBirth     = atNonce + 8
	atGenerator = atBirth + 8
	atRandom    = atGenerator + 16
	atSeq       = atRandom + 8
	atRoute     = atSeq + 8

	// ContentSize is the length of a message's content: what Append writes and the least that Parse reads.
	ContentSize = atRoute + routeSize
)

// Append appends the content of m, unsigned and in the clear: ContentSize bytes.
func (m *Message) Append(dst []byte) []byte {
	be := binary.BigEndian
	dst = be.AppendUint64(dst, uint64(m.Gate))
	dst = append(dst, byte(m.Kind))
	dst = append(dst, m.From[:]...)
	dst = append(dst, m.To[:]...)
	dst = be.AppendUint64(dst, uint64(m.Handoff))
	dst = be.AppendUint64(dst, uint64(m.Nonce))
	dst = be.AppendUint64(dst, uint64(m.Token.ID.Birth))
	dst = append(dst, m.Token.ID.Generator[:]...)
	dst = be.AppendUint64(dst, m.Token.ID.Random)
	dst = be.AppendUint64(dst, uint64(m.Token.Seq))
	return m.Token.Route.append(dst)
}

// Parse reads what Append writes. Bytes after it are an extension of a later version and are ignored. ok is false if the
// content is short or breaks a rule of the layout; the message is then zero.
func Parse(content []byte) (m Message, ok bool) {
	if len(content) < ContentSize {
		return Message{}, false
	}
	be := binary.BigEndian
	m.Gate = GateID(be.Uint64(content[atGate:]))
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
	if !m.wellFormed() {
		return Message{}, false
	}
	return m, true
}

// wellFormed holds the rules of the layout, those that need no knowledge of the receiver's.
func (m *Message) wellFormed() bool {
	if m.From.IsZero() || m.To.IsZero() || m.From == m.To {
		return false
	}
	if m.Token.ID.Birth < 0 || m.Token.ID.Birth > MaxBirth || m.Token.Seq == 0 || m.Token.Seq > MaxSeq {
		return false
	}
	switch m.Kind {
	case KindToken:
		return m.Nonce == 0 && !m.Token.ID.Generator.IsZero() && m.Token.Route.wellFormed()
	case KindAck, KindCommit:
		return m.Nonce != 0 && m.Token.ID.Generator.IsZero() && m.Token.Route == Route{}
	}
	return false
}
