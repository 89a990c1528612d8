package sim

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// SeqChecker holds the fencing number: under one token, and at one member, every grant has a higher number than the one
// before, also over a restart; and the number of a token rises whenever it comes to another member, and never falls. A token
// that was revived while its holder was only thought to be lost is two tokens here: a resource has to refuse the lower.
type SeqChecker struct {
	copies   copies
	ofToken  map[int]carried
	granted  map[int]wire.Seq
	atMember map[int]wire.Seq
}

// carried is the highest number that a token was seen with, and where.
type carried struct {
	seq    wire.Seq
	member int
}

// NewSeqChecker returns a checker of one run.
func NewSeqChecker() *SeqChecker {
	return &SeqChecker{copies: newCopies(), ofToken: map[int]carried{}, granted: map[int]wire.Seq{}, atMember: map[int]wire.Seq{}}
}

// Watch checks one step.
func (k *SeqChecker) Watch(c *Cluster, o *Occurrence) error {
	k.copies.watch(o)
	if o.Kind != Stepped {
		return nil
	}
	for i := range o.Effects {
		if e := &o.Effects[i]; e.Kind == policy.Run {
			if err := k.grant(o.Member, e.Token); err != nil {
				return err
			}
		}
	}
	if !o.Completes() {
		return nil
	}
	return k.carry(o.Member, c.Status(o.Member))
}

func (k *SeqChecker) grant(member int, t wire.Token) error {
	if last := k.atMember[member]; t.Seq <= last {
		return fmt.Errorf("seq: %s is granted number %d after %d", MemberName(member), t.Seq, last)
	}
	if last := k.granted[k.copies.of(member)]; t.Seq <= last {
		return fmt.Errorf("seq: %v grants number %d after %d", t.ID, t.Seq, last)
	}
	k.atMember[member], k.granted[k.copies.of(member)] = t.Seq, t.Seq
	return nil
}

func (k *SeqChecker) carry(member int, s *policy.Status) error {
	if !s.Holding {
		return nil
	}
	last, known := k.ofToken[k.copies.of(member)]
	if known && (s.Token.Seq < last.seq || s.Token.Seq == last.seq && member != last.member) {
		return fmt.Errorf("seq: %v comes to %s with number %d and had %d at %s", s.Token.ID, MemberName(member), s.Token.Seq,
			last.seq, MemberName(last.member))
	}
	if last.seq != s.Token.Seq || last.member != member {
		k.ofToken[k.copies.of(member)] = carried{seq: s.Token.Seq, member: member}
	}
	return nil
}
