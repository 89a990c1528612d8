package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// SeqChecker checks the fencing number. Under one token, and at one member, each grant has a higher number than the one before, across
// restarts too. The number of a token rises when it comes to another member, and never falls. A token that was revived although its
// holder lived counts as two: a resource must refuse the lower number. And a new token begins a new epoch, because the lost one may
// have moved on since its maker saw it.
type SeqChecker struct {
	copies   Copies
	ofToken  map[int]carried
	granted  map[int]wire.Seq
	atMember map[int]wire.Seq
	// met is the highest number that each member has held since its start.
	met map[int]wire.Seq
}

// carried is the highest number of a token, and its member.
type carried struct {
	seq    wire.Seq
	member int
}

// epochHops is the size of an epoch in hops: more than a token makes between two visits.
const epochHops = 1 << 32

// NewSeqChecker returns a checker of one run.
func NewSeqChecker() *SeqChecker {
	return &SeqChecker{copies: NewCopies(), ofToken: map[int]carried{}, granted: map[int]wire.Seq{}, atMember: map[int]wire.Seq{}, met: map[int]wire.Seq{}}
}

// Watch implements [sim.Watcher].
func (k *SeqChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	k.copies.Watch(o)
	if o.Ends() {
		delete(k.met, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		if err := k.effect(o, &o.Effects[i]); err != nil {
			return err
		}
	}
	if !o.Completes() {
		return nil
	}
	return k.carry(o.Member, c.Status(o.Member))
}

func (k *SeqChecker) effect(o *sim.Occurrence, e *policy.Effect) error {
	switch {
	case e.Kind == policy.Run:
		return k.grant(o.Member, e.Token)
	case e.Kind != policy.Took:
	case e.Cause != policy.CauseReceived:
		met := k.met[o.Member]
		if met > 0 && met < wire.MaxSeq/2 && e.Token.Seq/epochHops <= met/epochHops {
			return fmt.Errorf("seq: %s makes %v with number %d and has met %d, from which a lost token may have come so far",
				sim.MemberName(o.Member), e.Token.ID, e.Token.Seq, met)
		}
		k.met[o.Member] = max(met, e.Token.Seq)
	default:
		k.met[o.Member] = max(k.met[o.Member], e.Token.Seq)
	}
	return nil
}

func (k *SeqChecker) grant(member int, t wire.Ref) error {
	if last := k.atMember[member]; t.Seq <= last {
		return fmt.Errorf("seq: %s is granted number %d after %d", sim.MemberName(member), t.Seq, last)
	}
	if last := k.granted[k.copies.Of(member)]; t.Seq <= last {
		return fmt.Errorf("seq: %v grants number %d after %d", t.ID, t.Seq, last)
	}
	k.atMember[member], k.granted[k.copies.Of(member)] = t.Seq, t.Seq
	return nil
}

func (k *SeqChecker) carry(member int, s *policy.Status) error {
	if !s.Holding {
		return nil
	}
	last, known := k.ofToken[k.copies.Of(member)]
	if known && (s.Token.Seq < last.seq || s.Token.Seq == last.seq && member != last.member) {
		return fmt.Errorf("seq: %v comes to %s with number %d and had %d at %s", s.Token.ID, sim.MemberName(member), s.Token.Seq,
			last.seq, sim.MemberName(last.member))
	}
	if last.seq != s.Token.Seq || last.member != member {
		k.ofToken[k.copies.Of(member)] = carried{seq: s.Token.Seq, member: member}
	}
	return nil
}
