package sim

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// copies tells the copies of tokens apart. Every token that is made is one, and every revival makes another, with the same
// identity: it is the way from hand to hand that tells which is which.
type copies struct {
	made    int
	held    map[int]int
	passing map[wire.HandoffID]int
}

func newCopies() copies { return copies{held: map[int]int{}, passing: map[wire.HandoffID]int{}} }

// of returns the copy that a member holds; zero if it holds none.
func (k *copies) of(member int) int { return k.held[member] }

// watch follows one occurrence.
func (k *copies) watch(o *Occurrence) {
	if o.Ends() {
		delete(k.held, o.Member)
	}
	if o.Kind != Stepped {
		return
	}
	// taken is the copy that came to the member in this step.
	taken, about := 0, wire.TokenID{}
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind == policy.Send && e.Msg.Kind == wire.KindCommit && k.held[o.Member] < 0 {
			k.passing[e.Msg.Handoff] = -k.held[o.Member]
			delete(k.held, o.Member)
		}
		if e.Kind != policy.Tell {
			continue
		}
		switch note := e.Note; {
		case note == policy.NoteMinted || note == policy.NoteRegenerated || note == policy.NoteRevived:
			k.made++
			taken, about = k.made, e.Token.ID
		case note == policy.NoteArrived:
			taken, about = k.passing[o.Event.Msg.Handoff], e.Token.ID
		case note == policy.NotePassed:
			// Its Commit, which says by which handoff, is the next message.
			k.held[o.Member] = -k.held[o.Member]
		case note == policy.NoteRemoved || note == policy.NoteMet && e.Token.ID == about:
			taken = 0
		case note == policy.NoteOvertaken || note == policy.NoteGaveUp || note == policy.NoteYielded || note == policy.NoteDropped:
			delete(k.held, o.Member)
		}
	}
	if taken > 0 {
		k.held[o.Member] = taken
	}
}
