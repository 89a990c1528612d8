// Package forms finds messages that no member sends, and that a protocol takes nevertheless. It is for the tests of all
// protocols.
package forms

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Forms knows which forms the messages of each kind have, as members send them in any number of runs: which fields are
// never empty, and which are always. What members never send, nobody must take: the sender of such a message is no
// member of this version, or is wrong.
type Forms struct{ kinds map[wire.Kind]*form }

// form is what has been seen of the fields of a kind.
type form struct {
	sent   int
	last   wire.Message
	fields [fields]usage
}

// usage is what has been seen of a field.
type usage struct {
	empty, filled bool
	most          uint64
}

// enough is how many messages of a kind must have been seen before anything is said of what is not sent.
const enough = 300

// The fields of a message that a machine need not judge by its clock or by what it knows, and then the words of its
// load.
const (
	fieldExchange = iota
	fieldNonce
	fieldGenerator
	fieldSlot
	fieldLoad
	fields = fieldLoad + wire.LoadSize/8
)

// New returns one that has seen nothing.
func New() *Forms { return &Forms{map[wire.Kind]*form{}} }

// See notes the messages that a member sends in a step.
func (k *Forms) See(out []policy.Effect) {
	for i := range out {
		if out[i].Kind == policy.Send {
			k.see(&out[i].Msg)
		}
	}
}

func (k *Forms) see(m *wire.Message) {
	f := k.kinds[m.Kind]
	if f == nil {
		f = &form{}
		k.kinds[m.Kind] = f
	}
	f.sent++
	f.last = *m
	for i := range f.fields {
		u, is := &f.fields[i], field(m, i)
		u.empty, u.filled, u.most = u.empty || is == 0, u.filled || is != 0, max(u.most, is)
	}
}

// Loose returns which messages that nobody sends are taken: "Ask: nonce 1". A field that was never empty is emptied,
// one that was always empty is filled, a number that was always small is made large, and the kind is one of no message.
// unread matches what may be so because nobody reads it, or because it may be any number.
func (k *Forms) Loose(d *policy.Descriptor, unread *regexp.Regexp) (loose []string) {
	for kind, f := range k.kinds {
		if f.sent < enough {
			continue
		}
		name := d.Kinds.Of(kind).Name
		try := func(at int, to uint64) {
			m := f.last
			what := fmt.Sprintf("%s: %s %d", name, fieldName(at), to)
			if setField(&m, at, to); d.WellFormed(&m) && !unread.MatchString(what) {
				loose = append(loose, what)
			}
		}
		for i, u := range f.fields {
			if !u.empty && i < fieldLoad { // What a load has may be empty.
				try(i, 0)
			}
			if !u.filled {
				try(i, 1)
			}
			if !u.filled || i < fieldLoad && u.most < 1<<60 {
				try(i, 1<<63)
			}
		}
		m := f.last
		for kind := range 1 << 8 {
			m.Kind = wire.Kind(kind)
			if d.Kinds.Of(m.Kind).Name == m.Kind.String() && d.WellFormed(&m) {
				loose = append(loose, fmt.Sprintf("%s: kind %d", name, m.Kind))
			}
		}
	}
	slices.Sort(loose)
	return loose
}

func fieldName(at int) string {
	if at >= fieldLoad {
		return "load " + strconv.Itoa(8*(at-fieldLoad))
	}
	return [...]string{"exchange", "nonce", "generator", "slot"}[at]
}

func field(m *wire.Message, at int) uint64 {
	switch at {
	case fieldExchange:
		return uint64(m.Exchange)
	case fieldNonce:
		return uint64(m.Nonce)
	case fieldGenerator:
		return binary.BigEndian.Uint64(m.Token.ID.Generator[:])
	case fieldSlot:
		return uint64(m.Token.Slot)
	}
	return binary.BigEndian.Uint64(m.Load[8*(at-fieldLoad):])
}

func setField(m *wire.Message, at int, to uint64) {
	switch at {
	case fieldExchange:
		m.Exchange = wire.Exchange(to)
	case fieldNonce:
		m.Nonce = wire.Nonce(to)
	case fieldGenerator:
		m.Token.ID.Generator = wire.MemberID{}
		binary.BigEndian.PutUint64(m.Token.ID.Generator[:], to)
	case fieldSlot:
		m.Token.Slot = uint8(min(to, 1<<8-1))
	default:
		binary.BigEndian.PutUint64(m.Load[8*(at-fieldLoad):], to)
	}
}
