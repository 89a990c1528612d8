package wire

import "encoding/binary"

// Offsets in the content; the package comment draws them.
const (
	atGate      = 0
	atProtocol  = atGate + 8
	atVersion   = atProtocol + 1
	atKind      = atVersion + 1
	atSlot      = atKind + 1
	atFrom      = atSlot + 1
	atTo        = atFrom + 16
	atExchange  = atTo + 16
	atNonce     = atExchange + 8
	atBirth     = atNonce + 8
	atGenerator = atBirth + 8
	atRandom    = atGenerator + 16
	atSeq       = atRandom + 8
	atDirective = atSeq + 8
	atFailures  = atDirective + directiveSize
	atLoad      = atFailures + failuresSize

	// ContentSize is the length of a message's content in bytes: Append writes this many, and Parse needs at least this
	// many.
	ContentSize = atLoad + LoadSize
)

// Append appends the content of m, unsigned and unencrypted: ContentSize bytes.
func (m *Message) Append(dst []byte) []byte {
	be := binary.BigEndian
	dst = be.AppendUint64(dst, uint64(m.Gate))
	dst = append(dst, m.Protocol, m.Version, byte(m.Kind), m.Token.Slot)
	dst = append(dst, m.From[:]...)
	dst = append(dst, m.To[:]...)
	dst = be.AppendUint64(dst, uint64(m.Exchange))
	dst = be.AppendUint64(dst, uint64(m.Nonce))
	dst = be.AppendUint64(dst, uint64(m.Token.ID.Birth))
	dst = append(dst, m.Token.ID.Generator[:]...)
	dst = be.AppendUint64(dst, m.Token.ID.Random)
	dst = be.AppendUint64(dst, uint64(m.Token.Seq))
	dst = m.Directive.Append(dst)
	dst = m.Failures.append(dst)
	return append(dst, m.Load[:]...)
}

// Parse parses the output of Append. It ignores bytes after the content: they are an extension of a later version. ok
// is false, and the message zero, if the content is too short or breaks a rule of all kinds.
func Parse(content []byte) (m Message, ok bool) {
	if len(content) < ContentSize {
		return Message{}, false
	}
	be := binary.BigEndian
	m.Gate = GateID(be.Uint64(content[atGate:]))
	m.Protocol, m.Version = content[atProtocol], content[atVersion]
	m.Kind = Kind(content[atKind])
	m.Token.Slot = content[atSlot]
	m.From = MemberID(content[atFrom:atTo])
	m.To = MemberID(content[atTo:atExchange])
	m.Exchange = Exchange(be.Uint64(content[atExchange:]))
	m.Nonce = Nonce(be.Uint64(content[atNonce:]))
	m.Token.ID.Birth = int64(be.Uint64(content[atBirth:]))
	m.Token.ID.Generator = MemberID(content[atGenerator:atRandom])
	m.Token.ID.Random = be.Uint64(content[atRandom:])
	m.Token.Seq = Seq(be.Uint64(content[atSeq:]))
	if m.Directive, ok = ParseDirective(content[atDirective:]); !ok {
		return Message{}, false
	}
	m.Failures = parseFailures(content[atFailures:])
	m.Load = Load(content[atLoad:ContentSize])
	if !m.wellFormed() {
		return Message{}, false
	}
	return m, true
}

// wellFormed checks the rules that apply to all kinds of message. Each protocol checks the rules of its own kinds, and
// its load.
func (m *Message) wellFormed() bool {
	t := &m.Token
	return !m.From.IsZero() && !m.To.IsZero() && m.From != m.To && t.Slot < MaxSlots &&
		t.ID.Birth >= 0 && t.ID.Birth <= MaxBirth && t.Seq <= MaxSeq &&
		m.Failures.wellFormed()
}
