package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// soaking is a soak that a member knows of, or under which a revived token is not used: until when, and the number of
// the token then.
type soaking struct {
	until policy.Time
	seq   wire.Seq
}

type soaks struct {
	takes time.Duration
	told  func(*wire.Message) (left time.Duration, byHolder bool)
	// ends are when the soaks of members are over that have not ended before, also of those that have died since.
	ends []policy.Time
	// runs are the tokens of the members' last runs.
	runs []wire.Ref
	// known is what members have heard of each token since they started.
	known []map[wire.TokenID]soaking
	// unused are the tokens that were revived by members who knew, and those whose holders were stopped.
	unused map[wire.TokenID]soaking
	// holds are how many copies of tokens members hold, and copied those of which there were two at a time.
	holds  []map[wire.TokenID]int
	copied map[wire.TokenID]bool
}

// NewSoakChecker checks that nobody starts in the soak of a member that has died in it, if the member that has revived
// its token has heard of it; nor in that of one that was stopped in it. A soak takes that long, and told returns what a
// message tells of one, and whether its sender says that it holds the token. One that has ended early does not count
// once that was heard, nor does any once a member has revived the token that has not heard of it, or there were two.
//
//go:noinline
func NewSoakChecker(takes time.Duration, told func(*wire.Message) (left time.Duration, byHolder bool)) sim.Watcher {
	return &soaks{
		takes: takes, told: told, unused: map[wire.TokenID]soaking{}, copied: map[wire.TokenID]bool{},
	}
}

// Watch implements [sim.Watcher].
func (k *soaks) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if k.ends == nil {
		k.ends, k.known = make([]policy.Time, c.Members()), make([]map[wire.TokenID]soaking, c.Members())
		k.runs, k.holds = make([]wire.Ref, c.Members()), make([]map[wire.TokenID]int, c.Members())
	}
	switch {
	case o.Kind == sim.Came, o.Ends():
		k.known[o.Member], k.holds[o.Member] = map[wire.TokenID]soaking{}, map[wire.TokenID]int{}
		if o.Kind == sim.Came {
			k.ends[o.Member] = 0
		}
	case o.On(policy.Soaks):
		k.ends[o.Member] = o.At.Add(k.takes)
	case o.On(policy.Finished) && o.Event.SoakGoesOn && o.At < k.ends[o.Member]:
		k.goesOn(c, o)
	case o.On(policy.Finished):
		k.ends[o.Member] = 0
	case o.On(policy.Received) && o.Expected:
		k.hear(o)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Gave:
			k.holds[o.Member][e.Token.ID]--
		case e.Kind == policy.Took:
			k.took(o, e)
		}
	}
	for e := range o.Did(policy.Run) {
		k.runs[o.Member] = e.Token
		u := k.unused[e.Token.ID]
		if o.At < u.until && e.Token.Seq >= u.seq && !k.copied[e.Token.ID] {
			return fmt.Errorf("soak: %s runs under %v#%d, whose holder has gone in its soak, which is over in %v",
				o.Who(), e.Token.ID, e.Token.Seq, u.until.Sub(o.At))
		}
	}
	return nil
}

// goesOn takes note of a soak that a stop has cut short: its token goes on with it, if it is here. Of several tokens it
// is not known which that is.
func (k *soaks) goesOn(c *sim.Cluster, o *sim.Occurrence) {
	run, status := &k.runs[o.Member], c.Machine(o.Member).Status(o.At)
	slots, is := c.Machine(o.Member).(policy.Slotted)
	if one := !is || slots.Slots() == 1; one && status.Holding && status.Token.ID == run.ID {
		k.unused[run.ID] = soaking{until: k.ends[o.Member], seq: run.Seq}
	}
}

// hear takes note of what a member hears of a soak. What is said of an older copy of the token does not count.
func (k *soaks) hear(o *sim.Occurrence) {
	m, known := &o.Event.Msg, k.known[o.Member]
	s := known[m.Token.ID]
	if m.Token.Seq < s.seq {
		return
	}
	switch left, byHolder := k.told(m); {
	case left == 0:
		s.until = 0
	case byHolder:
		soaks := max(k.ends[sim.IndexOf(m.From)], k.unused[m.Token.ID].until)
		s.until = min(soaks, o.At.Add(left)) // It may have been sent before the present one has begun.
	}
	s.seq = m.Token.Seq
	known[m.Token.ID] = s
}

// took takes note of a token that a member takes, and in particular of one that it has revived.
func (k *soaks) took(o *sim.Occurrence, e *policy.Effect) {
	id := e.Token.ID
	for i := range k.holds {
		k.copied[id] = k.copied[id] || k.holds[i][id] > 0
	}
	k.holds[o.Member][id]++
	switch s := k.known[o.Member][id]; {
	case e.Cause != policy.CauseRevived:
	case o.At < s.until:
		k.unused[id] = soaking{until: s.until, seq: e.Token.Seq}
	default:
		delete(k.unused, id)
	}
}
