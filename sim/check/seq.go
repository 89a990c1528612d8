package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

type seqChecker struct {
	copies  Copies
	ofToken map[int]carried
	// granted is the highest number that was granted under each copy.
	granted map[int]wire.Seq
}

// carried is the highest number of a token, and the member where it was.
type carried struct {
	seq    wire.Seq
	member int
}

// numbers are the highest number under which a member ran, and the highest that it has held since its start.
type numbers struct{ ran, met wire.Seq }

// epochHops is the size of an epoch, in hops: larger than the number of hops that a token makes between two visits.
const epochHops = 1 << 32

// NewSeqChecker checks the fencing number. Under one token, and at one member, each grant has a higher number than the
// one before, across restarts too, unless the member has lost what it had saved. The number of a token rises when it
// comes to another member, and never falls. If a token is revived although its holder lives, the two copies count as
// two tokens: a resource must refuse the lower number. And a new token begins a new epoch, because the lost one may
// have moved on since its maker saw it.
func NewSeqChecker() sim.Watcher {
	k := &seqChecker{copies: NewCopies(), ofToken: map[int]carried{}, granted: map[int]wire.Seq{}}
	return sim.EachMember(func(me *numbers, c *sim.Cluster, o *sim.Occurrence) error {
		k.copies.Watch(o)
		switch {
		case o.Ends():
			me.met = 0
		case o.Forgot:
			me.ran = 0
		}
		for i := range o.Effects {
			if err := k.effect(me, o, &o.Effects[i]); err != nil {
				return err
			}
		}
		if !o.Completes() {
			return nil
		}
		return k.carry(o.Member, c.Status(o.Member))
	})
}

func (k *seqChecker) effect(me *numbers, o *sim.Occurrence, e *policy.Effect) error {
	seq, granted := e.Token.Seq, k.granted[k.copies.Of(o.Member)]
	switch {
	case e.Kind == policy.Run && seq <= me.ran:
		return fmt.Errorf("seq: %s is granted number %d after %d", o.Who(), seq, me.ran)
	case e.Kind == policy.Run && seq <= granted:
		return fmt.Errorf("seq: %v grants number %d after %d", e.Token.ID, seq, granted)
	case e.Kind == policy.Run:
		me.ran, k.granted[k.copies.Of(o.Member)] = seq, seq
	case e.Kind == policy.Took && e.Cause != policy.CauseReceived && me.met > 0 && me.met < wire.MaxSeq/2 &&
		seq/epochHops <= me.met/epochHops:
		return fmt.Errorf(
			"seq: %s makes %v with number %d and has met %d, from which a lost token may have come so far",
			o.Who(), e.Token.ID, seq, me.met)
	case e.Kind == policy.Took:
		me.met = max(me.met, seq)
	}
	return nil
}

func (k *seqChecker) carry(member int, s *policy.Status) error {
	if !s.Holding {
		return nil
	}
	last, known := k.ofToken[k.copies.Of(member)]
	if known && (s.Token.Seq < last.seq || s.Token.Seq == last.seq && member != last.member) {
		return fmt.Errorf("seq: %v comes to %s with number %d and had %d at %s", s.Token.ID, sim.MemberName(member),
			s.Token.Seq,
			last.seq, sim.MemberName(last.member))
	}
	if now := (carried{s.Token.Seq, member}); now != last {
		k.ofToken[k.copies.Of(member)] = now
	}
	return nil
}
