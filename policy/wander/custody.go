package wander

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// state is what a member does. Only custody changes it.
//
//	state     token   ends with
//	absent    no      a token that arrives; regenerate-after; the first token being due
//	asking    yes     the answers of all others, or an objection; half a skip
//	saves     yes     a Saved; half a skip
//	running   yes¹    the end of the protected operation
//	resting   yes     the end of skip; if this member is alone, of min_interval
//	offering  yes     an Ack; the handoff's patience, and then an offer to another member
//	doubting  yes     the guardians' answers: does another member hold it too?
//	gone      no      nothing: the member has left
//
// ¹ unless it was given up during the run, because the host was asleep or a copy with a higher number was found.
type state uint8

const (
	absent state = iota
	asking
	saves
	running
	resting
	offering
	doubting
	gone
)

func (s state) String() string {
	return [...]string{
		absent: "absent", asking: "asking", saves: "saving", running: "running", resting: "resting",
		offering: "offering", doubting: "doubting", gone: "gone",
	}[s]
}

// mayBecome reports whether one state may follow another. A run is saved first, a member does not leave with a token,
// and a member that has left stays so.
func (s state) mayBecome(next state) bool {
	switch next {
	case running:
		return s == saves
	case gone:
		return s == absent
	case doubting:
		return s != absent && s != gone
	case absent, asking, saves, resting, offering:
	}
	return s != gone
}

// custody is what a member holds and what it does with that. Only its methods change it.
type custody struct {
	state state
	// holding is true while this member holds token. Otherwise token is the last token that it held, and gaveUp is true
	// if it gave that token up after a sleep.
	holding, gaveUp bool
	// waitsUntilDue is true if restUntil is the time from which this member may run. grants is true if a run follows
	// the state saves.
	waitsUntilDue, grants bool
	// readied is true if the host has reported that it needs a run while a token rests here, and the token has not been
	// used since.
	readied bool
	// heard is true if a member has answered since the token was offered.
	heard bool
	// leaving is true while this member is stopping: it takes no other token.
	leaving bool
	// kept is true if the grant outlives its host: see keep.go. resumed is true if it has done so. asksKeep is true
	// while the guardians are asked to keep it, before it is saved; late, if some have not answered for a while.
	// back is true while a token that was kept waits for the word of a guardian before it goes on.
	kept, resumed, asksKeep, late, back bool

	// restUntil is when the states asking, resting and saves end.
	restUntil policy.Time
	// grownAt is the time up to which the age of the held token is counted.
	grownAt policy.Time
	lastTo  wire.MemberID
	token   guardian.Token
}

// become changes the state.
func (c *custody) become(next state) {
	if !c.state.mayBecome(next) {
		panic(fmt.Sprintf("wander: a member that is %v cannot become %v", c.state, next))
	}
	c.state = next
}

// doing is the state of this member.
func (c *custody) doing() state { return c.state }

// in reports whether this member is in that state.
func (c *custody) in(s state) bool { return c.state == s }

// holds reports whether this member holds a token.
func (c *custody) holds() bool { return c.holding }

// held returns the token that this member holds, or nil.
func (c *custody) held() *guardian.Token {
	if !c.holding {
		return nil
	}
	return &c.token
}

// asked returns the held token while this member asks before it runs under it, or nil.
func (c *custody) asked() *guardian.Token {
	if c.state != asking {
		return nil
	}
	return &c.token
}

// last returns the token that this member holds, or held last.
func (c *custody) last() *guardian.Token { return &c.token }

// wentTo is the member to which a token was last passed on.
func (c *custody) wentTo() wire.MemberID { return c.lastTo }

// until is when asking, resting or saving ends.
func (c *custody) until() policy.Time { return c.restUntil }

// granting reports whether a run waits for its save.
func (c *custody) granting() bool { return c.state == saves && c.grants }

// take makes this member the holder of a token.
func (c *custody) take(cfg *Config, now policy.Time, token *guardian.Token) {
	c.holding, c.gaveUp, c.token, c.grownAt, c.heard = true, false, *token, now, true
	c.kept, c.resumed = false, false
	c.tellSlots(cfg)
	clearMixed(&c.token.Load) // It grows older here.
}

// tellSlots lets the held token say how many tokens this member counts. A member that has not counted them yet leaves
// what it says.
func (c *custody) tellSlots(cfg *Config) {
	if c.holding && !cfg.uncounted {
		SetLastSlot(&c.token.Load, cfg.LastSlot)
	}
}

// giveUp ends the holding of the token.
func (c *custody) giveUp() { c.holding = false }

// sleep records that the token is given up because the host was asleep. Perhaps no other member has heard of it.
func (c *custody) sleep() { c.gaveUp = true }

// passed ends the holding of the token, which another member now has.
func (c *custody) passed(to wire.MemberID) { c.lastTo = to }

// release enters the state in which this member holds no token and runs nothing.
func (c *custody) release() {
	c.become(absent)
	c.holding = false
}

// doubt enters the state in which this member does not use the token until its guardians have answered.
func (c *custody) doubt() { c.become(doubting) }

// stop records that this member is stopping.
func (c *custody) stop() { c.leaving = true }

// leaves reports whether this member is stopping.
func (c *custody) leaves() bool { return c.leaving }

// leave enters the final state: this member holds no token and takes none.
func (c *custody) leave() { c.become(gone) }

// ask keeps the token until the others have answered.
func (c *custody) ask(until policy.Time) {
	c.become(asking)
	c.restUntil = until
}

// save keeps the token until everything is saved, at least its number. Then a run follows if grants is set; otherwise
// the token is passed on.
func (c *custody) save(cfg *Config, now policy.Time, grants bool) {
	c.become(saves)
	c.grants, c.asksKeep, c.back = grants, false, false
	c.restUntil = now.Add(cfg.SaveWithin())
}

// retract withdraws a grant whose run has not started, and reports whether there was one.
func (c *custody) retract() (was bool) {
	was = c.granting()
	c.grants = c.grants && !was
	c.endKept(was)
	return was
}

// keep grants a run that outlives its host: until then, the guardians are asked to keep the grant.
func (c *custody) keep(until policy.Time) {
	c.become(saves)
	c.grants, c.kept, c.asksKeep, c.late, c.back, c.restUntil = true, true, true, false, false, until
}

// keepLate goes on asking them until then.
func (c *custody) keepLate(until policy.Time) { c.late, c.restUntil = true, until }

// isLate reports whether some guardians have not answered for a while.
func (c *custody) isLate() bool { return c.late }

// askingToKeep reports whether they are being asked.
func (c *custody) askingToKeep() bool { return c.state == saves && c.asksKeep }

// endKept ends a kept grant, if it is over.
func (c *custody) endKept(over bool) { c.kept = c.kept && !over }

// handBack keeps a token that was kept until a guardian has answered, or until then.
func (c *custody) handBack(until policy.Time) {
	c.become(saves)
	c.grants, c.asksKeep, c.back, c.restUntil = false, false, true, until
}

// handsBack reports whether it waits for that.
func (c *custody) handsBack() bool { return c.state == saves && c.back }

// keeps reports whether this member has a kept grant.
func (c *custody) keeps() bool { return c.kept && c.holding && !c.askingToKeep() }

// resume goes on with a kept grant of an earlier life.
func (c *custody) resume(cfg *Config, now policy.Time, token *guardian.Token) {
	c.take(cfg, now, token)
	c.state, c.kept, c.resumed = running, true, true
}

// isResumed reports whether the present run is one of an earlier life.
func (c *custody) isResumed() bool { return c.state == running && c.resumed }

// run starts the granted run.
func (c *custody) run() { c.become(running) }

// rest lets the token rest; untilDue is true if this member may run from then on.
func (c *custody) rest(until policy.Time, untilDue bool) {
	c.become(resting)
	c.readied = false
	c.restUntil, c.waitsUntilDue = until, untilDue
}

// hurry ends the present wait at that time, if it would last longer.
func (c *custody) hurry(at policy.Time) { c.restUntil = min(c.restUntil, at) }

// desist shortens a rest until this member is due to end at that time, because this member is no longer due.
func (c *custody) desist(until policy.Time) {
	if c.state == resting && c.waitsUntilDue {
		c.restUntil, c.waitsUntilDue = min(c.restUntil, until), false
	}
}

// restsUntilDue reports whether the token rests until this member may run.
func (c *custody) restsUntilDue() bool { return c.waitsUntilDue }

// ready records whether a run may start here, as the host says; turned is true if that has just become so.
func (c *custody) ready(may, turned bool) {
	c.readied = c.state == resting && may && (c.readied || turned)
}

// isReadied reports whether a run may start here, and might not when the token began to rest.
func (c *custody) isReadied() bool { return c.state == resting && c.readied }

// reconsidered records that the resting token has been reconsidered.
func (c *custody) reconsidered() { c.readied = false }

// offer offers the token with that number.
func (c *custody) offer(now policy.Time, seq wire.Seq) {
	c.become(offering)
	c.heard = false
	c.grow(now)
	c.token.Seq = seq
}

// hear records that a member has answered.
func (c *custody) hear() { c.heard = true }

// unheard reports whether no member has answered since the token was offered, though it has guardians.
func (c *custody) unheard() bool { return !c.heard && c.token.Guarded() }

// grow adds the time since its last call to the age of the held token.
func (c *custody) grow(now policy.Time) {
	growBy(&c.token.Load, now.Sub(c.grownAt))
	c.grownAt = now
}

// setSeq gives the held token a number.
func (c *custody) setSeq(seq wire.Seq) { c.token.Seq = seq }

// rise gives the held token the number of a question, if that is higher: the asker has heard of a copy of which no
// other member knows more. A token that is offered, or whose number is being saved, keeps its number, because it is
// passed on with that number, or runs under it. So does one whose grant is kept. Its holder will be asked again.
func (c *custody) rise(ask *wire.Message) (risen bool) {
	fixed := c.state == offering || c.state == saves || c.kept
	if !c.holding || fixed || c.token.ID != ask.Token.ID || ask.Token.Seq <= c.token.Seq {
		return false
	}
	c.token.Seq = ask.Token.Seq
	return true
}

// vouch changes the answer to a question, which is the last effect, while a run continues whose token this member has
// lost. The changed answer reports that a holder was heard just now, so that no member revives the token before the run
// has ended. It has the number of the question, because the asker believes that one.
func (c *custody) vouch(ask *wire.Message, out []policy.Effect) []policy.Effect {
	if answer := &out[len(out)-1].Msg; c.state == running && !c.holding {
		answer.Kind, answer.Nonce, answer.Token, answer.Load = guardian.KindHeard, 1, ask.Token, ask.Load
	}
	return out
}

// holdsOlder reports whether the held token precedes another. Of two tokens that meet, the younger is discarded. An
// older token that arrives may have to be removed itself; it must not replace the held one.
func (c *custody) holdsOlder(id wire.TokenID) bool { return c.holding && c.token.ID.Precedes(id) }

// holdsCopy reports whether a copy of that token is held.
func (c *custody) holdsCopy(id wire.TokenID) bool { return c.holding && c.token.ID == id }

// had reports whether the last token held here has the given ID. A copy that was given up after a sleep does not count:
// perhaps no other member has heard of it, and a copy with a lower number is all that is left of the token.
func (c *custody) had(id wire.TokenID) bool { return c.token.ID == id && !c.gaveUp }

// isOutdated reports whether this member has held or heard of a copy of the token with a higher number, and returns
// that copy as latest. A token's number only rises.
func (c *custody) isOutdated(t *guardian.Token, g *guardian.Machine) (latest *guardian.Token, outdated bool) {
	known, ok := g.Latest(t.ID)
	outdated = ok && t.Seq < known.Seq || c.had(t.ID) && t.Seq <= c.token.Seq
	if ok && (!c.had(t.ID) || known.Seq > c.token.Seq) {
		return known, outdated
	}
	return &c.token, outdated
}

// meetsAnother reports whether a heartbeat is that of another token while this member holds one and does not doubt it.
// Heartbeats that answer questions do not count.
func (c *custody) meetsAnother(msg *wire.Message, g *guardian.Machine) bool {
	another := msg.Kind == guardian.KindHeartbeat && msg.Exchange == 0 && c.holding && c.token.ID != msg.Token.ID
	return another && !g.Doubting()
}

// answerAnother answers the heartbeat of another token. The older token survives, as where two meet. It is the holder
// of the older one that tells the other holder so: it knows that its token is not lost, while a heartbeat may be a
// replay. The holder of the younger one only answers with a heartbeat.
func (c *custody) answerAnother(heartbeat *wire.Message, g *guardian.Machine, out []policy.Effect) []policy.Effect {
	if !c.token.ID.Precedes(heartbeat.Token.ID) {
		return g.Greet(heartbeat.From, &c.token, out)
	}
	return g.Dismiss(heartbeat, out)
}

// facts appends the guardians of the token.
func (c *custody) facts(now policy.Time, slot uint8, g *guardian.Machine, out []policy.Fact) []policy.Fact {
	if holder, keeps := g.Keeps(); keeps {
		out = append(out, policy.Fact{Key: policy.KeyKeeps, Slot: slot, Member: holder})
	}
	out = g.AppendFacts(now, slot, c.held(), out)
	if c.holding {
		trail := c.token.Trail()
		for _, id := range trail[:trail.Len()] {
			out = append(out, policy.Fact{Key: policy.KeyGuardian, Slot: slot, Member: id})
		}
	}
	return out
}
