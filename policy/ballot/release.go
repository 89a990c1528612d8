package ballot

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Release ends the epoch of this member's token. The owner must have discarded the token before, and nothing of its
// command may be left.
//
// "Early end: a holder that has stopped its command and destroys the token may release; supporters of e end its lease,
// and the next epoch need not wait. From nobody else, and never after a handoff has begun." (rule 11)
func (b *Machine) Release(now policy.Time, out []policy.Effect) []policy.Effect {
	h := b.holder
	if !h.holds {
		return out
	}
	b.LetGo()
	out = b.endLeases(now, &h.token, out)
	return policy.AppendTell(out, NoteReleased, wire.MemberID{}, &h.token)
}

// endLeases ends the leases of a token. As long as the grant may still be kept on this member's disk, nobody is told: a
// later life would take it up, and rely on leases that are over by then, or end when the release comes late.
func (b *Machine) endLeases(now policy.Time, token *wire.Ref, out []policy.Effect) []policy.Effect {
	b.supporter.release(now, token.Seq)
	if b.cfg.Keep > 0 && b.supporter.unsaved {
		b.cfg.Marks.Hit(markReleaseWaits)
		b.unreleased = token.Seq
		return out
	}
	return b.tellReleased(token, out)
}

// unreleasedSaved tells of a release that has waited for a save.
func (b *Machine) unreleasedSaved(out []policy.Effect) []policy.Effect {
	if b.unreleased == 0 || b.supporter.unsaved {
		return out
	}
	b.cfg.Marks.Hit(markReleaseSaved)
	e := EpochOf(b.unreleased)
	token := e.Token(b.id(e.Rank()))
	token.Seq, b.unreleased = b.unreleased, 0
	return b.tellReleased(&token, out)
}

// preSign gives the guard of the command that was just started the releases that it sends if the agent dies.
//
// "The guard's last word: while a command runs, its guard holds a release of this grant (epoch, hop), signed and sealed
// by the agent beforehand. If the agent dies (the lifeline breaks) while the command runs, the guard kills the
// command's group, sees it gone, and only then sends the release, a few times, to the supporters. It is rule 11: the
// token died with the agent, which never holds after a restart, and no handoff begins while a command runs." (rule 12)
func (b *Machine) preSign(out []policy.Effect) []policy.Effect {
	for rank := range b.cfg.Roster.Len() {
		if rank != b.cfg.Self {
			m := b.message(KindRelease, rank, &b.holder.token, 0, load{})
			out = policy.AppendPreSign(out, &m)
		}
	}
	return out
}

func (b *Machine) tellReleased(token *wire.Ref, out []policy.Effect) []policy.Effect {
	for rank := range b.cfg.Roster.Len() {
		if rank != b.cfg.Self {
			m := b.message(KindRelease, rank, token, 0, load{})
			out = policy.AppendSend(out, &m)
		}
	}
	return out
}

// onRelease ends the lease of an epoch. A member that has promised this epoch proposes at once, in its turn; after a
// pause, if no token of that epoch has been with anybody: all that a proposer blocks would else try again when it
// withdraws, in the same order each time. A member that has promised another epoch, and awaits the end of this one,
// adds a pause too, because it does not know how many others have also promised another epoch; so does one whose
// attempt goes on, once it has withdrawn. The withdrawal of any other proposal is no reason to try again: each proposer
// would set off the next.
func (b *Machine) onRelease(now policy.Time, m *wire.Message) {
	if rank, ok := b.cfg.Roster.Rank(m.From); ok && hasMoved(m.Token.Seq) {
		b.holdOff.ran.add(rank)
	}
	p, r := &b.proposer, &b.round
	e, free := EpochOf(m.Token.Seq), b.turnAfter(now)
	if r.kind == KindPromise && r.awaits == e {
		b.cfg.Marks.Hit(markReleasedMeanwhile)
		r.freeAt = min(r.freeAt, now)
	}
	promised := b.supporter.release(now, m.Token.Seq)
	switch {
	case promised && hasMoved(m.Token.Seq):
	case promised, e == p.awaits:
		b.cfg.Marks.Hit(markReleasedUnused)
		free = free.Add(b.pause())
	default:
		return
	}
	p.notBefore = min(p.notBefore, free)
}

// release ends the lease of an epoch, and drops a waiting answer that would begin this lease. It reports whether the
// epoch was the promised one.
//
// A number below that of the last renewal ends nothing: that token has moved on since. Nobody who has what it saved
// says so; but a member that has lost it, and whose clock is behind, may propose an epoch of its earlier life, and give
// it up.
func (s *supporter) release(now policy.Time, seq wire.Seq) bool {
	e := EpochOf(seq)
	if seq < s.renewedAt && EpochOf(s.renewedAt) == e {
		return false
	}
	s.over = e
	if s.promised != e {
		return false
	}
	s.end, s.plain, s.soakUntil = min(s.end, now), min(s.plain, now), 0
	s.waiting = question{}
	s.unkeep(e)
	return true
}
