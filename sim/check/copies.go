package check

import (
	"maps"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Copies tells the copies of tokens apart. A new token is one copy, and each revival makes another copy with the same
// identity. Only their way from member to member tells them apart.
type Copies struct {
	made int
	// held are the copies that each member holds. passing are the copies that were given up for another member, by
	// exchange.
	held    map[int]inHands
	passing map[wire.Exchange]int
}

// inHands are the last two copies that a member has taken and not given up; zero if there is none.
type inHands struct{ last, before int }

// NewCopies returns the copies of one run, none at first.
func NewCopies() Copies { return Copies{held: map[int]inHands{}, passing: map[wire.Exchange]int{}} }

// Of returns the copy that a member holds. It is zero if the member holds none.
func (k *Copies) Of(member int) int { return k.held[member].last }

// Passing returns the copy that an exchange passes on. It is zero if there is none.
func (k *Copies) Passing(id wire.Exchange) int { return k.passing[id] }

// MadeUp must be called when a member passes on, by that exchange, a token that it does not hold. That token is another
// copy.
func (k *Copies) MadeUp(by wire.Exchange) {
	k.made++
	k.passing[by] = k.made
}

// Clone returns an independent copy of k.
func (k *Copies) Clone() Copies {
	return Copies{made: k.made, held: maps.Clone(k.held), passing: maps.Clone(k.passing)}
}

// Watch implements [sim.Watcher].
func (k *Copies) Watch(o *sim.Occurrence) {
	if o.Ends() {
		delete(k.held, o.Member)
	}
	passed := 0
	var gave *policy.Effect
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Took:
			k.held[o.Member] = inHands{last: k.coming(o, e), before: k.Of(o.Member)}
		case e.Kind == policy.Gave:
			hands := k.held[o.Member]
			k.held[o.Member] = inHands{last: hands.before}
			if e.Cause == policy.CausePassed {
				passed, gave = hands.last, e
			}
		// The message that passes the token on (in a handoff, the Commit) names the exchange.
		case e.Kind == policy.Send && passed > 0 && e.Msg.To == gave.Peer && SameToken(e.Msg.Token.ID, gave.Token.ID):
			k.passing[e.Msg.Exchange], passed = passed, 0
		}
	}
}

func (k *Copies) coming(o *sim.Occurrence, e *policy.Effect) int {
	if e.Cause == policy.CauseReceived {
		return k.passing[o.Event.Msg.Exchange]
	}
	k.made++
	return k.made
}
