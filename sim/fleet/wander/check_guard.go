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

// GuardChecker checks the rules of guardians:
//
//   - A guardian revives a token only after it has heard nothing of the holder for a patience and has asked. The number is above all
//     that it has met under this token, and it never revives a token that it knows to be removed.
//   - A member that yielded a token because it heard nobody revives it only if it has heard somebody since, or is alone.
//   - A guardian need not wait if the guard of the holder's run says that the run is gone and its agent dead. The guard says what the
//     holder entrusted it with, about the token of that run.
//   - A holder that learns that its token was overtaken drops it. No member takes a copy with a number no higher than the one with
//     which it passed the token on.
//   - A member grants a run, passes a token on or goes on beating only if its guardians had word of it within the last patience.
//   - The higher a guardian's rank, the longer it waits before it asks. One that another guardian tells that the holder was heard asks
//     anew before it revives.
//   - Of two holders of one token with the same number, the one with the lower identity yields. A member that drops an overtaken copy
//     tells the guardians of that copy.
type GuardChecker struct {
	patience time.Duration
	heard    map[int]map[wire.TokenID]word
	buried   map[int]map[wire.TokenID]wire.Seq
	// passed is the token that a member passed on last; none if it has held another since.
	passed map[int]wire.Ref
	// wrote is when a member last wrote to its guardians before its last step, writes the same with that step.
	wrote, writes map[int]policy.Time
	// asks says that its last message to them was a question.
	asks map[int]bool
	// trail has the guardians of each member's token, as of its last step.
	trail map[int]guardian.Trail
	// words are the messages that a member has entrusted to the guard of its run; orphans those of dead agents whose run goes on; said
	// those that may have been sent: by the guard of a run that is gone, or by the member itself.
	words, orphans map[int][]wire.Message
	said           map[wire.Message]bool
	// gaveUp has the token that a member yielded because it heard nobody, until it hears somebody. alone are the members that see no
	// other.
	gaveUp map[int]wire.TokenID
	alone  map[int]bool
	offers offers
	// former is the token that a member has yielded: it asks about it without waiting.
	former map[int]wire.TokenID
}

// word is what a member knows of a token: the highest number, and when it last heard of the holder.
type word struct {
	seq wire.Seq
	at  policy.Time
	// asked are the members that have not answered since suspectedAt; nil if the holder is not suspected.
	asked       map[wire.MemberID]bool
	suspectedAt policy.Time
	// question is the exchange of the last question.
	question wire.Exchange
}

// NewGuardChecker returns a checker of one run in which guardians have the given patience.
func NewGuardChecker(patience time.Duration) *GuardChecker {
	return &GuardChecker{
		patience: patience, heard: map[int]map[wire.TokenID]word{}, buried: map[int]map[wire.TokenID]wire.Seq{},
		passed: map[int]wire.Ref{}, wrote: map[int]policy.Time{}, writes: map[int]policy.Time{}, trail: map[int]guardian.Trail{}, asks: map[int]bool{},
		words: map[int][]wire.Message{}, orphans: map[int][]wire.Message{}, said: map[wire.Message]bool{},
		gaveUp: map[int]wire.TokenID{}, alone: map[int]bool{}, former: map[int]wire.TokenID{}, offers: offers{},
	}
}

// Watch implements [sim.Watcher].
func (k *GuardChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	switch {
	case o.Kind == sim.RunGone:
		for _, m := range k.orphans[o.Member] {
			k.said[m] = true
		}
		delete(k.orphans, o.Member)
	case o.Outlived:
		k.orphans[o.Member] = append(k.orphans[o.Member], k.words[o.Member]...)
	}
	if o.Ends() || o.Kind == sim.Stepped && o.Event.Kind == policy.Finished {
		delete(k.words, o.Member)
	}
	if o.Ends() {
		delete(k.heard, o.Member)
		delete(k.buried, o.Member)
		delete(k.trail, o.Member)
		delete(k.passed, o.Member)
		delete(k.gaveUp, o.Member)
		delete(k.former, o.Member)
		delete(k.alone, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	defer k.offers.watch(o)
	switch o.Event.Kind {
	case policy.Received:
		if err := k.receive(o); err != nil {
			return err
		}
	case policy.PeersChanged:
		k.alone[o.Member] = len(o.Event.Peers) <= 1
	case policy.Started, policy.Saved, policy.Finished, policy.Wanted, policy.Unwanted, policy.Suspended, policy.Ordered, policy.Leave, policy.Woke:
	}
	for i := range o.Effects {
		if err := k.effect(c, o, &o.Effects[i]); err != nil {
			return err
		}
	}
	k.wrote[o.Member] = k.writes[o.Member]
	if !o.Completes() {
		return nil
	}
	return k.holder(c, o, c.Status(o.Member))
}

func (k *GuardChecker) receive(o *sim.Occurrence) error {
	m := &o.Event.Msg
	if !o.Expected {
		return nil
	}
	delete(k.gaveUp, o.Member)
	if w := k.heard[o.Member][m.Token.ID]; m.Kind != guardian.KindAsk && m.Exchange == w.question {
		delete(w.asked, m.From)
	}
	if w, ok := k.heard[o.Member][m.Token.ID]; ok && m.Kind == guardian.KindHeard && m.Exchange == w.question && m.Nonce < wire.Nonce(k.patience) {
		w.asked = nil
		k.heard[o.Member][m.Token.ID] = w
	}
	switch m.Kind {
	case guardian.KindBeat:
		k.learn(o, m.Token, true)
	case guardian.KindBuried:
		k.bury(o.Member, m.Token)
	case guardian.KindAsk, guardian.KindHeard, guardian.KindKnown:
		k.learn(o, m.Token, false)
	case guardian.KindYield:
		return k.yield(o, m)
	}
	return nil
}

// yield checks a Yield that was believed: it names the highest number that this member has met, and it is true.
func (k *GuardChecker) yield(o *sim.Occurrence, m *wire.Message) error {
	w := k.heard[o.Member][m.Token.ID]
	switch {
	case m.Token.Seq < w.seq:
		return fmt.Errorf("guard: %s believes that %v#%d was yielded, and knows of %d", sim.MemberName(o.Member), m.Token.ID, m.Token.Seq, w.seq)
	case !k.said[*m]:
		return fmt.Errorf("guard: %s is told that %v#%d was yielded by %s, where no run is gone that its process did not survive",
			sim.MemberName(o.Member), m.Token.ID, m.Token.Seq, sim.MemberName(sim.IndexOf(m.From)))
	}
	k.learn(o, m.Token, false)
	w = k.heard[o.Member][m.Token.ID]
	w.at, w.asked = o.At.Add(-k.patience), map[wire.MemberID]bool{}
	k.heard[o.Member][m.Token.ID] = w
	return nil
}

func (k *GuardChecker) learn(o *sim.Occurrence, t wire.Ref, holder bool) {
	words := k.heard[o.Member]
	if words == nil {
		words = map[wire.TokenID]word{}
		k.heard[o.Member] = words
	}
	w := words[t.ID]
	if holder && t.Seq >= w.seq || t.Seq > w.seq {
		w.at, w.asked = o.At, nil
	}
	w.seq = max(w.seq, t.Seq)
	words[t.ID] = w
}

func (k *GuardChecker) bury(member int, t wire.Ref) {
	buried := k.buried[member]
	if buried == nil {
		buried = map[wire.TokenID]wire.Seq{}
		k.buried[member] = buried
	}
	buried[t.ID] = max(buried[t.ID], t.Seq)
}

func (k *GuardChecker) effect(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	switch e.Kind {
	case policy.Send:
		var broken error
		comes := tells(o, e.Msg.Token.ID, wander.NoteArrived, wander.NoteRevived, wander.NoteMinted, wander.NoteRegenerated)
		if e.Msg.Kind == guardian.KindBeat && e.Msg.Exchange == 0 && !comes && !k.asks[o.Member] && k.writes[o.Member] != o.At {
			broken = k.inTouch(o, "says that all is well")
		}
		if e.Msg.Kind == guardian.KindBeat || e.Msg.Kind == guardian.KindAsk {
			k.writes[o.Member], k.asks[o.Member] = o.At, e.Msg.Kind == guardian.KindAsk
		}
		if w, ok := k.heard[o.Member][e.Msg.Token.ID]; ok && e.Msg.Kind == guardian.KindAsk {
			w.question = e.Msg.Exchange
			k.heard[o.Member][e.Msg.Token.ID] = w
		}
		if e.Msg.Kind == guardian.KindYield {
			k.said[e.Msg] = true
		}
		return broken
	case policy.Run:
		delete(k.words, o.Member)
		return k.inTouch(o, "runs")
	case policy.Entrust:
		if e.Msg.Kind == 0 {
			delete(k.words, o.Member)
		} else {
			k.words[o.Member] = append(k.words[o.Member], e.Msg)
		}
	case policy.Tell:
		return k.note(c, o, e)
	case policy.Save, policy.Extend, policy.Stop, policy.Took, policy.Gave, policy.Announce, policy.Gone, policy.Proclaim:
	}
	return nil
}

func (k *GuardChecker) note(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	var broken error
	switch note := e.Note; {
	case note == guardian.NoteSuspected:
		broken = k.waited(c, o, e)
		k.suspect(c, o, e)
	case note == wander.NoteOvertaken || note == wander.NoteOutdated:
		broken = k.corrects(c, o, e)
	case note == wander.NoteRemoved || note == wander.NoteMet:
		k.bury(o.Member, e.Token)
	case note == handoff.NotePassed:
		broken = k.inTouch(o, "passes its token on")
		k.passed[o.Member] = e.Token
		later := e.Token
		later.Seq = later.Seq.After()
		k.learn(o, later, true)
	case note == wander.NoteGaveUp:
		// Perhaps no other member knows of this copy, so any other copy is as good.
		delete(k.heard[o.Member], e.Token.ID)
	case note == wander.NoteYielded:
		k.gaveUp[o.Member], k.former[o.Member] = e.Token.ID, e.Token.ID
	case note == wander.NoteRevived:
		broken = k.revive(o, e.Token)
		k.take(o, e.Token)
	case note == wander.NoteArrived:
		broken = k.arrive(o, o.Event.Msg.Token)
		k.take(o, e.Token)
	case note == wander.NoteMinted || note == wander.NoteRegenerated:
		k.take(o, e.Token)
	}
	return broken
}

// take records that a token comes to a member. It forgets the one before.
func (k *GuardChecker) take(o *sim.Occurrence, t wire.Ref) {
	k.learn(o, t, true)
	delete(k.former, o.Member)
	if k.passed[o.Member].ID != t.ID {
		delete(k.passed, o.Member)
	}
}

// asks returns the guardians of a token as a member that asks about it in this step knows them.
func asks(o *sim.Occurrence, id wire.TokenID) (trail guardian.Trail) {
	for i := range o.Effects {
		if e := &o.Effects[i]; e.Kind == policy.Send && e.Msg.Kind == guardian.KindAsk && e.Msg.Token.ID == id {
			return guardian.TrailOf(&e.Msg.Load)
		}
	}
	return trail
}

// waited checks how long a guardian has waited before it asks.
func (k *GuardChecker) waited(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	w, ok := k.heard[o.Member][e.Token.ID]
	trail := asks(o, e.Token.ID)
	rank, _ := trail.Rank(c.ID(o.Member))
	if wait := k.patience + time.Duration(rank)*k.patience/2; ok && o.At.Sub(w.at) < wait && k.former[o.Member] != e.Token.ID {
		return fmt.Errorf("guard: %s, of rank %d, asks after %v instead of %v", sim.MemberName(o.Member), rank, o.At.Sub(w.at), wait)
	}
	return nil
}

// corrects checks that a member that drops an overtaken copy tells the guardians of that copy, unless it dies meanwhile.
func (k *GuardChecker) corrects(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	trail := k.trail[o.Member]
	if e.Note == wander.NoteOutdated && !e.Peer.IsZero() {
		load, offered := k.offers[o.Event.Msg.Exchange]
		if !offered {
			return nil // HandoffChecker and CustodyChecker judge what arrives without an offer.
		}
		trail = guardian.TrailOf(&load)
	}
	for _, id := range trail[:trail.Len()] {
		told := func(e2 policy.Effect) bool {
			m := &e2.Msg
			return e2.Kind == policy.Send && m.To == id && (m.Kind == guardian.KindKnown || m.Kind == guardian.KindBuried) && m.Token.ID == e.Token.ID
		}
		if id != c.ID(o.Member) && o.Completes() && !slices.ContainsFunc(o.Effects, told) {
			return fmt.Errorf("guard: %s drops a copy of %v and does not tell %s, which guards it",
				sim.MemberName(o.Member), e.Token.ID, sim.MemberName(sim.IndexOf(id)))
		}
	}
	return nil
}

// suspect records the members to ask about a token.
func (k *GuardChecker) suspect(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) {
	words := k.heard[o.Member]
	w := words[e.Token.ID]
	w.seq, w.suspectedAt, w.asked = max(w.seq, e.Token.Seq), o.At, map[wire.MemberID]bool{}
	trail := asks(o, e.Token.ID)
	for _, id := range append(trail[:], e.Peer) {
		if !id.IsZero() && id != c.ID(o.Member) {
			w.asked[id] = true
		}
	}
	words[e.Token.ID] = w
}

func (k *GuardChecker) revive(o *sim.Occurrence, t wire.Ref) error {
	who, w := sim.MemberName(o.Member), k.heard[o.Member][t.ID]
	gaveUp, silent := k.gaveUp[o.Member]
	switch {
	case k.alone[o.Member] && o.Event.Kind == policy.PeersChanged:
		return nil // Nobody is there to be asked.
	case silent && gaveUp == t.ID && !k.alone[o.Member]:
		return fmt.Errorf("guard: %s takes back %v, which it gave up because it heard nobody, and has heard nobody since", who, t.ID)
	case w.asked == nil || len(w.asked) > 0 && o.At.Sub(w.suspectedAt) < k.patience/2:
		return fmt.Errorf("guard: %s revives %v and has not asked, or not waited for the answers", who, t.ID)
	case o.At.Sub(w.at) < k.patience:
		return fmt.Errorf("guard: %s revives %v, of which it heard %v ago", who, t.ID, o.At.Sub(w.at))
	case t.Seq <= w.seq:
		return fmt.Errorf("guard: %s revives %v with number %d and knows of %d", who, t.ID, t.Seq, w.seq)
	case k.buried[o.Member][t.ID] >= w.seq:
		return fmt.Errorf("guard: %s revives %v, which was removed with number %d", who, t.ID, k.buried[o.Member][t.ID])
	}
	return nil
}

// arrive checks the number of an offered token: it has risen since the member passed that token on.
func (k *GuardChecker) arrive(o *sim.Occurrence, offered wire.Ref) error {
	last, ok := k.passed[o.Member]
	if ok && check.SameToken(offered.ID, last.ID) && offered.Seq <= last.Seq {
		return fmt.Errorf("guard: %s takes %v with number %d and passed it on with %d", sim.MemberName(o.Member), last.ID, offered.Seq, last.Seq)
	}
	return nil
}

// inTouch checks that the guardians of a token that was held before this step have had word of it.
func (k *GuardChecker) inTouch(o *sim.Occurrence, does string) error {
	trail, held := k.trail[o.Member]
	if o.Event.Kind == policy.Suspended {
		return nil // Whose host was asleep gives its token up, unless nobody else is there.
	}
	if since := o.At.Sub(k.wrote[o.Member]); held && trail.Len() > 0 && since >= k.patience {
		return fmt.Errorf("guard: %s %s, and its guardians have heard nothing for %v", sim.MemberName(o.Member), does, since)
	}
	return nil
}

// holder checks what a member holds after a step.
func (k *GuardChecker) holder(c *sim.Cluster, o *sim.Occurrence, s *policy.Status) error {
	if err := k.entrusted(c, o, s); err != nil {
		return err
	}
	yields := func(e policy.Effect) bool {
		return e.Kind == policy.Send && e.Msg.Kind == guardian.KindYield && e.Msg.Token.ID == s.Token.ID
	}
	if s.Holding && slices.ContainsFunc(o.Effects, yields) {
		return fmt.Errorf("guard: %s says that it holds %v no more, and holds it", sim.MemberName(o.Member), s.Token.ID)
	}
	if !s.Holding {
		delete(k.trail, o.Member)
		return nil
	}
	detail := Detail(c, o.Member)
	k.trail[o.Member] = detail.Trail()
	m := &o.Event.Msg
	tells := m.Kind >= guardian.KindBeat && m.Kind <= guardian.KindBuried || m.Kind == handoff.KindToken && o.Expected
	if o.Event.Kind == policy.Received && tells && m.Token.ID == s.Token.ID && m.Token.Seq > s.Token.Seq {
		return fmt.Errorf("guard: %s holds %v with number %d and was told of %d", sim.MemberName(o.Member), s.Token.ID, s.Token.Seq, m.Token.Seq)
	}
	beaten := o.Event.Kind == policy.Received && m.Kind == guardian.KindBeat && m.Token.ID == s.Token.ID && m.Token.Seq == s.Token.Seq
	if beaten && m.From.Compare(m.To) > 0 {
		return fmt.Errorf("guard: %s holds %v with number %d, and so does %s, which is to keep it",
			sim.MemberName(o.Member), s.Token.ID, s.Token.Seq, sim.MemberName(sim.IndexOf(m.From)))
	}
	return nil
}

// entrusted checks what the guard of a member's run would say if the agent died now: to each guardian that the token is lost; nothing
// if the member no longer holds it.
func (k *GuardChecker) entrusted(c *sim.Cluster, o *sim.Occurrence, s *policy.Status) error {
	if s.Why != wander.WhyRunning {
		return nil
	}
	words, guardians, detail := k.words[o.Member], 0, Detail(c, o.Member)
	trail := detail.Trail()
	if s.Holding {
		guardians = trail.Len()
	}
	if len(words) != guardians {
		return fmt.Errorf("guard: %s runs under a token with %d guardians, and the guard of the run is to tell %d",
			sim.MemberName(o.Member), guardians, len(words))
	}
	for i := range words {
		if m := &words[i]; m.Kind != guardian.KindYield || m.Token != s.Token || m.Load != detail.Load || m.To != trail[i] {
			return fmt.Errorf("guard: %s runs under %v#%d, and the guard of the run is to say a %s of %v#%d",
				sim.MemberName(o.Member), s.Token.ID, s.Token.Seq, wander.Kinds().Of(m.Kind).Name, m.Token.ID, m.Token.Seq)
		}
	}
	return nil
}

// tells reports whether a step told one of these notes about a token.
func tells(o *sim.Occurrence, id wire.TokenID, notes ...policy.Note) bool {
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind == policy.Tell && e.Token.ID == id && slices.Contains(notes, e.Note) {
			return true
		}
	}
	return false
}
