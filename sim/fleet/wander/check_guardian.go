package wander

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/wire"
)

type guardianRules struct {
	patience time.Duration
	// said are the messages that may have been sent, by a member itself or by the guard of a run that is gone.
	said   map[wire.Message]bool
	offers offers
}

// guardianView is what one member knows and does. When its process ends, it forgets what it has not saved.
type guardianView struct {
	heard      map[wire.TokenID]word
	tombstones map[wire.TokenID]wire.Seq
	// removed are the tokens in tombstones. The next one takes the place of the one at oldest, because a member
	// remembers only so many.
	removed [4]wire.TokenID
	oldest  int
	// passed is the token that the member passed on last; none if it has held another one since.
	passed wire.Ref
	// wrote is when the member had last written to its guardians before its last step; writes is the same after that
	// step. asks is true if its last message to them was a question.
	wrote, writes policy.Time
	asks          bool
	// holds is the token that the member held after its last step; none if it held no token. trail is that token's
	// guardians.
	holds wire.Ref
	trail guardian.Trail
	// words are the messages that the member has pre-signed for the guard of its run. orphans are those of dead agents
	// whose run goes on.
	words, orphans []wire.Message
	// kept is true while the member's grant outlives its host: then the guard has nothing to send.
	kept bool
	// gaveUp is the token that the member yielded because it heard nobody; it is kept until the member hears somebody.
	// alone is true while the member sees no other.
	gaveUp wire.TokenID
	alone  bool
	// former is the token that the member has yielded. It asks about that token without waiting.
	former wire.TokenID
}

// word is what a member knows of a token: its highest number, and when the member last heard of the holder.
type word struct {
	seq wire.Seq
	at  policy.Time
	// sure is the highest number, not counting questions of others.
	sure wire.Seq
	// count is the number of the holder's last heartbeat with the number seq.
	count wire.Nonce
	// asked are the members that have not answered since suspectedAt. It is nil if the holder is not suspected.
	asked       map[wire.MemberID]bool
	suspectedAt policy.Time
	// question is the exchange of the last question.
	question wire.Exchange
}

// NewGuardianChecker checks the rules of guardians:
//
//   - A guardian revives a token only after it has heard nothing of the holder for a patience and has asked. The new
//     number is above all that it has met under this token, and it never revives a token that it knows to be removed.
//   - A member that yielded a token because it heard nobody revives it only if it has heard somebody since, or is
//     alone.
//   - A guardian need not wait if the guard of the holder's run says that the run is gone and its agent dead. The guard
//     sends what the holder pre-signed for it, about the token of that run.
//   - A holder that learns that its token was overtaken discards it, or takes the number that a question names. No
//     member takes a copy with a number no higher than the one with which it passed the token on.
//   - A member grants a run, passes a token on or goes on sending heartbeats only if its guardians had word of it
//     within the last patience.
//   - The higher a guardian's rank, the longer it waits before it asks. If another guardian tells it that the holder
//     was heard, it asks again before it revives the token.
//   - Of two holders of one token with the same number, the one with the lower identity yields. A member that discards
//     an overtaken copy tells the guardians of that copy.
func NewGuardianChecker(patience time.Duration) sim.Watcher {
	k := &guardianRules{patience: patience, said: map[wire.Message]bool{}, offers: offers{}}
	return sim.EachMember(func(me *guardianView, c *sim.Cluster, o *sim.Occurrence) error {
		switch {
		case o.Kind == sim.RunGone:
			for _, m := range me.orphans {
				k.said[m] = true
			}
			me.orphans = nil
		case o.Outlived:
			me.orphans = append(me.orphans, me.words...)
		}
		if o.Ends() || me.heard == nil {
			*me = guardianView{
				heard: map[wire.TokenID]word{}, tombstones: map[wire.TokenID]wire.Seq{},
				wrote: me.wrote, writes: me.writes, asks: me.asks, orphans: me.orphans,
			}
		}
		if o.Kind != sim.Stepped {
			return nil
		}
		defer k.offers.watch(o)
		if err := k.event(me, c, o); err != nil {
			return err
		}
		for i := range o.Effects {
			if err := k.effect(me, c, o, &o.Effects[i]); err != nil {
				return err
			}
		}
		me.wrote = me.writes
		if !o.Completes() {
			return nil
		}
		s := c.Status(o.Member)
		if s.Phase == "" {
			me.heard = nil // One token less is enough: this slot's machine has gone, with what it knew.
		}
		return me.holder(c, o, s)
	})
}

func (k *guardianRules) event(me *guardianView, c *sim.Cluster, o *sim.Occurrence) error {
	m := &o.Event.Msg
	switch {
	case o.On(policy.Finished):
		me.words = nil
	case o.On(policy.Started):
		kept := &o.Event.State.Kept
		me.kept = kept.Holder == c.ID(o.Member)
		if kept.Is() { // It knows the number of the grant that it keeps, whatever is played back later.
			me.learn(o, kept.Token, true)
		}
	case o.On(policy.PeersChanged):
		me.alone = len(o.Event.Peers) <= 1
	}
	if !o.On(policy.Received) || !o.Expected {
		return nil
	}
	me.gaveUp = wire.TokenID{}
	w, known := me.heard[m.Token.ID]
	if m.Kind != guardian.KindAsk && m.Exchange == w.question {
		delete(w.asked, m.From)
	}
	if known && m.Kind == guardian.KindHeard && m.Exchange == w.question && m.Nonce < wire.Nonce(k.patience) {
		w.asked = nil
		me.heard[m.Token.ID] = w
	}
	switch m.Kind {
	case guardian.KindHeartbeat:
		// If two holders have the same number, this one keeps the token if its identity is higher: the other one's
		// heartbeat then tells it nothing. A holder of another token answers each heartbeat, even one that is replayed
		// and brings nothing new.
		another := !me.holds.ID.IsZero() && me.holds.ID != m.Token.ID && m.Exchange == 0
		me.learn(o, m.Token, !another && (m.Token != me.holds || m.From.Compare(m.To) > 0))
		if w = me.heard[m.Token.ID]; m.Token.Seq == w.seq {
			w.count = max(w.count, m.Nonce)
			me.heard[m.Token.ID] = w
		}
	case guardian.KindKeep:
		// Before the last heartbeat is what was played back, or what a holder says that has come back.
		me.learn(o, m.Token, m.Token != me.holds && (m.Token.Seq != w.seq || m.Nonce>>1 >= w.count))
	case guardian.KindTombstone:
		me.tombstone(m.Token)
	case guardian.KindAsk:
		// A guardian that has heard the holder lately need not believe another guardian that has not.
		w.seq = max(w.seq, m.Token.Seq)
		me.heard[m.Token.ID] = w
	case guardian.KindHeard, guardian.KindKnown:
		me.learn(o, m.Token, false)
	case guardian.KindYield:
		return k.yield(me, o, m)
	}
	return nil
}

// yield checks a Yield that the member believed: it must name the highest number that this member has met, and it must
// be true.
func (k *guardianRules) yield(me *guardianView, o *sim.Occurrence, m *wire.Message) error {
	w := me.heard[m.Token.ID]
	switch {
	case m.Token.Seq < w.sure:
		return fmt.Errorf("guardian: %s believes that %v#%d was yielded, and knows of %d", o.Who(), m.Token.ID,
			m.Token.Seq, w.sure)
	case !k.said[*m]:
		return fmt.Errorf(
			"guardian: %s is told that %v#%d was yielded by %s, where no run is gone that its process did not survive",
			o.Who(), m.Token.ID, m.Token.Seq, sim.MemberName(sim.IndexOf(m.From)))
	}
	me.learn(o, m.Token, false)
	w = me.heard[m.Token.ID]
	w.at, w.asked = o.At.Add(-k.patience), map[wire.MemberID]bool{}
	me.heard[m.Token.ID] = w
	return nil
}

func (me *guardianView) learn(o *sim.Occurrence, t wire.Ref, holder bool) {
	w := me.heard[t.ID]
	if holder && t.Seq >= w.seq || t.Seq > w.seq {
		w.at, w.asked = o.At, nil
	}
	if t.Seq > w.seq {
		w.count = 0
	}
	w.seq, w.sure = max(w.seq, t.Seq), max(w.sure, t.Seq)
	me.heard[t.ID] = w
}

// tombstone records that a token was removed.
func (me *guardianView) tombstone(t wire.Ref) {
	if _, knows := me.tombstones[t.ID]; !knows {
		delete(me.tombstones, me.removed[me.oldest])
		me.removed[me.oldest], me.oldest = t.ID, (me.oldest+1)%len(me.removed)
	}
	me.tombstones[t.ID] = max(me.tombstones[t.ID], t.Seq)
}

func (k *guardianRules) effect(me *guardianView, c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	switch {
	case e.Kind == policy.Send:
		return k.sends(me, o, &e.Msg)
	case e.Kind == policy.Run:
		me.words = nil
		return k.inTouch(me, o, "runs")
	case e.Kind == policy.PreSign && e.Msg.Kind == 0:
		me.words = nil
	case e.Kind == policy.PreSign:
		me.words = append(me.words, e.Msg)
	case e.Kind == policy.Save:
		me.kept = e.State.Kept.Holder == c.ID(o.Member)
	case e.Kind == policy.Tell:
		return k.note(me, c, o, e)
	}
	return nil
}

func (k *guardianRules) sends(me *guardianView, o *sim.Occurrence, m *wire.Message) (broken error) {
	switch heartbeat, asks := m.Kind == guardian.KindHeartbeat, m.Kind == guardian.KindAsk; {
	case heartbeat || asks:
		arrives := tells(o, m.Token.ID, wander.NoteArrived, wander.NoteRevived, wander.NoteCreated,
			wander.NoteRegenerated, wander.NoteRenewed, wander.NoteReplaced) || o.On(policy.Started)
		if heartbeat && m.Exchange == 0 && !arrives && !me.asks && me.writes != o.At {
			broken = k.inTouch(me, o, "says that all is well")
		}
		me.writes = o.At
		if m.Exchange == 0 || asks {
			me.asks = asks // An answer to another member does not end a question of its own.
		}
		if w, ok := me.heard[m.Token.ID]; ok && asks {
			w.question = m.Exchange
			me.heard[m.Token.ID] = w
		}
	case m.Kind == guardian.KindYield:
		k.said[*m] = true
	}
	return broken
}

func (k *guardianRules) note(me *guardianView, c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	var broken error
	switch note := e.Note; {
	case note == guardian.NoteSuspected:
		broken = k.waited(me, c, o, e)
		me.suspect(c, o, e)
	case note == wander.NoteOvertaken || note == wander.NoteOutdated:
		broken = k.corrects(me, c, o, e)
	case note == wander.NoteRemoved || note == wander.NoteMet:
		me.tombstone(e.Token)
	case note == handoff.NotePassed:
		broken = k.inTouch(me, o, "passes its token on")
		me.passed = e.Token
		later := e.Token
		later.Seq = later.Seq.After()
		me.learn(o, later, true)
	case note == wander.NoteGaveUp:
		// Perhaps no other member knows of this copy, so the member may accept any other one.
		delete(me.heard, e.Token.ID)
	case note == wander.NoteYielded:
		me.gaveUp, me.former = e.Token.ID, e.Token.ID
	case note == wander.NoteRevived:
		broken = k.revive(me, o, e.Token)
	case note == wander.NoteArrived:
		// The number has risen since the member passed that token on.
		if t, last := o.Event.Msg.Token, me.passed; check.SameToken(t.ID, last.ID) && t.Seq <= last.Seq {
			broken = fmt.Errorf("guardian: %s takes %v with number %d and passed it on with %d", o.Who(),
				last.ID, t.Seq, last.Seq)
		}
	}
	if comes(e.Note) {
		me.take(o, e.Token)
	}
	return broken
}

// take records that a token comes to a member. The member forgets the token before it.
func (me *guardianView) take(o *sim.Occurrence, t wire.Ref) {
	me.learn(o, t, true)
	me.former = wire.TokenID{}
	if me.passed.ID != t.ID {
		me.passed = wire.Ref{}
	}
}

// asks returns the guardians of a token, as known by a member that asks about it in this step.
func asks(o *sim.Occurrence, id wire.TokenID) (trail guardian.Trail) {
	for e := range o.Did(policy.Send) {
		if e.Msg.Kind == guardian.KindAsk && e.Msg.Token.ID == id {
			return guardian.TrailOf(&e.Msg.Load)
		}
	}
	return trail
}

// waited checks how long a guardian has waited before it asks.
func (k *guardianRules) waited(me *guardianView, c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	w, ok := me.heard[e.Token.ID]
	trail := asks(o, e.Token.ID)
	rank, _ := trail.Rank(c.ID(o.Member))
	if wait := k.patience + time.Duration(rank)*k.patience/2; ok && o.At.Sub(w.at) < wait && me.former != e.Token.ID {
		return fmt.Errorf("guardian: %s, of rank %d, asks after %v instead of %v", o.Who(), rank, o.At.Sub(w.at), wait)
	}
	return nil
}

// corrects checks that a member that discards an overtaken copy tells that copy's guardians, unless the member dies
// meanwhile.
func (k *guardianRules) corrects(me *guardianView, c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	trail := me.trail
	if e.Note == wander.NoteOutdated && !e.Peer.IsZero() {
		load, offered := k.offers[o.Event.Msg.Exchange]
		if !offered {
			return nil // Other checkers (handoff, custody) judge tokens that arrive without an offer.
		}
		trail = guardian.TrailOf(&load)
	}
	for _, id := range trail[:trail.Len()] {
		told := func(e2 policy.Effect) bool {
			m := &e2.Msg
			return e2.Kind == policy.Send && m.To == id &&
				(m.Kind == guardian.KindKnown || m.Kind == guardian.KindTombstone) && m.Token.ID == e.Token.ID
		}
		if id != c.ID(o.Member) && o.Completes() && !slices.ContainsFunc(o.Effects, told) {
			return fmt.Errorf("guardian: %s discards a copy of %v and does not tell %s, a guardian of it",
				o.Who(), e.Token.ID, sim.MemberName(sim.IndexOf(id)))
		}
	}
	return nil
}

// suspect records which members are asked about a token.
func (me *guardianView) suspect(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) {
	w := me.heard[e.Token.ID]
	w.seq, w.suspectedAt, w.asked = max(w.seq, e.Token.Seq), o.At, map[wire.MemberID]bool{}
	trail := asks(o, e.Token.ID)
	for _, id := range append(trail[:], e.Peer) {
		if !id.IsZero() && id != c.ID(o.Member) {
			w.asked[id] = true
		}
	}
	me.heard[e.Token.ID] = w
}

func (k *guardianRules) revive(me *guardianView, o *sim.Occurrence, t wire.Ref) error {
	w, tombstones := me.heard[t.ID], me.tombstones[t.ID]
	switch {
	case me.alone && o.On(policy.PeersChanged):
		return nil // There is nobody to ask.
	case me.gaveUp == t.ID && !me.alone:
		return fmt.Errorf("guardian: %s takes back %v, which it gave up because it heard nobody, and has heard nobody "+
			"since", o.Who(), t.ID)
	case w.asked == nil || len(w.asked) > 0 && o.At.Sub(w.suspectedAt) < k.patience/2:
		return fmt.Errorf("guardian: %s revives %v and has not asked, or not waited for the answers", o.Who(), t.ID)
	case o.At.Sub(w.at) < k.patience:
		return fmt.Errorf("guardian: %s revives %v, of which it heard %v ago", o.Who(), t.ID, o.At.Sub(w.at))
	case t.Seq <= w.seq:
		return fmt.Errorf("guardian: %s revives %v with number %d and knows of %d", o.Who(), t.ID, t.Seq, w.seq)
	case tombstones >= w.seq:
		return fmt.Errorf("guardian: %s revives %v, which was removed with number %d", o.Who(), t.ID, tombstones)
	}
	return nil
}

// inTouch checks that the guardians of the token that was held before this step have heard of it.
func (k *guardianRules) inTouch(me *guardianView, o *sim.Occurrence, does string) error {
	if o.On(policy.Suspended) {
		return nil // A member whose host was asleep gives up its token, unless there is no other member.
	}
	if since := o.At.Sub(me.wrote); me.trail.Len() > 0 && since >= k.patience {
		return fmt.Errorf("guardian: %s %s, and its guardians have heard nothing for %v", o.Who(), does, since)
	}
	return nil
}

// holder checks what a member holds after a step.
func (me *guardianView) holder(c *sim.Cluster, o *sim.Occurrence, s *policy.Status) error {
	if err := me.preSigned(c, o, s); err != nil {
		return err
	}
	me.holds, me.trail = wire.Ref{}, guardian.Trail{}
	if !s.Holding {
		return nil
	}
	for e := range o.Did(policy.Send) {
		if e.Msg.Kind == guardian.KindYield && e.Msg.Token.ID == s.Token.ID {
			return fmt.Errorf("guardian: %s says that it holds %v no more, and holds it", o.Who(), s.Token.ID)
		}
	}
	detail := Detail(c, o.Member)
	me.holds, me.trail = s.Token, detail.Trail()
	m := &o.Event.Msg
	if !o.On(policy.Received) || m.Token.ID != s.Token.ID {
		return nil
	}
	tells := m.Kind >= guardian.KindHeartbeat && m.Kind <= guardian.KindTombstone ||
		m.Kind == handoff.KindToken && o.Expected
	switch {
	case m.Kind == guardian.KindAsk && (s.Phase == "offering" || s.Phase == "saving" || me.kept):
		return nil // The member passes its token on, or runs, with the number with which it began to.
	case tells && m.Token.Seq > s.Token.Seq:
		return fmt.Errorf("guardian: %s holds %v with number %d and was told of %d", o.Who(), s.Token.ID, s.Token.Seq,
			m.Token.Seq)
	case m.Kind == guardian.KindHeartbeat && m.Token.Seq == s.Token.Seq && m.From.Compare(m.To) > 0:
		return fmt.Errorf("guardian: %s holds %v with number %d, and so does %s, which is to keep it",
			o.Who(), s.Token.ID, s.Token.Seq, sim.MemberName(sim.IndexOf(m.From)))
	}
	return nil
}

// preSigned checks what the guard of a member's run would send if the agent died now: to each guardian, that the token
// is lost; nothing if the member no longer holds the token.
func (me *guardianView) preSigned(c *sim.Cluster, o *sim.Occurrence, s *policy.Status) error {
	if s.Why != wander.WhyRunning {
		return nil
	}
	words, guardians, detail := me.words, 0, Detail(c, o.Member)
	trail := detail.Trail()
	if s.Holding && !me.kept {
		guardians = trail.Len()
	}
	if len(words) != guardians {
		return fmt.Errorf("guardian: %s runs under a token with %d guardians, and the guard of the run is to tell %d",
			o.Who(), guardians, len(words))
	}
	for i := range words {
		m := &words[i]
		guardian.SetSoakLeft(&m.Load, guardian.SoakLeft(&detail.Load)) // That falls as time passes.
		if m.Kind != guardian.KindYield || m.Token != s.Token || m.Load != detail.Load || m.To != trail[i] {
			return fmt.Errorf("guardian: %s runs under %v#%d, and the guard of the run is to say a %s of %v#%d",
				o.Who(), s.Token.ID, s.Token.Seq, wander.Kinds().Of(m.Kind).Name, m.Token.ID, m.Token.Seq)
		}
	}
	return nil
}

// tells reports whether a step told one of these notes about a token.
func tells(o *sim.Occurrence, id wire.TokenID, notes ...policy.Note) bool {
	for e := range o.Did(policy.Tell) {
		if e.Token.ID == id && slices.Contains(notes, e.Note) {
			return true
		}
	}
	return false
}

// NewTrailChecker checks that a token on its way names no more guardians than backups says.
//
//go:noinline
func NewTrailChecker(backups int) sim.Watcher {
	return sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		for i := range o.Effects {
			e := &o.Effects[i]
			if e.Kind != policy.Send || e.Msg.Kind != handoff.KindToken {
				continue
			}
			if trail := guardian.TrailOf(&e.Msg.Load); trail.Len() > backups {
				return fmt.Errorf("trail: %s sends a token with %d guardians, and there are to be %d", o.Who(),
					trail.Len(), backups)
			}
		}
		return nil
	})
}
