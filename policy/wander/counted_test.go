package wander_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// withShare is a member of a gate of which a tenth of the members may run at once; change, if not nil, changes the
// gate.
func withShare(t *testing.T, change func(*wander.Settings)) *booth {
	t.Helper()
	cfg := config()
	settings := *cfg.Settings
	settings.Slots, settings.SlotsShare = 0, 10
	if change != nil {
		change(&settings)
	}
	cfg.Settings = &settings
	return boothOf(t, wander.NewGate(cfg, 0), policy.State{})
}

// sees gives the member a view of that many members.
func (b *booth) sees(n int) {
	peers := []wire.MemberID{self}
	for i := byte(1); len(peers) < n; i++ {
		if id(int(i)) != self {
			peers = append(peers, id(int(i)))
		}
	}
	slices.SortFunc(peers, wire.MemberID.Compare)
	b.step(policy.Event{Kind: policy.PeersChanged, Peers: peers, TokenKnown: true})
}

// counts lets the member count its tokens: its view has not changed for a minute.
func (b *booth) counts(want int) {
	b.t.Helper()
	b.advance(time.Minute)
	b.step(policy.Event{Kind: policy.Woke})
	if n := b.m.(policy.Slotted).Slots(); n != want {
		b.t.Fatalf("it counts %d tokens, want %d", n, want)
	}
}

// runs reports whether a run has started in the last step.
func (b *booth) runs() bool {
	return slices.ContainsFunc(b.out, func(e policy.Effect) bool { return e.Kind == policy.Run })
}

// ends ends the run; the next member takes the token, if one is offered.
func (b *booth) ends(o policy.Outcome) []policy.Note {
	b.step(policy.Event{Kind: policy.Finished, Outcome: o})
	notes := b.notes()
	for _, e := range b.out {
		if e.Kind == policy.Send && e.Msg.Kind == handoff.KindToken {
			b.step(policy.Event{Kind: policy.Received, Msg: handoff.Reply(&e.Msg, handoff.KindAck, 1)})
			break
		}
	}
	return notes
}

// tokenOf returns a token of a slot whose holder counts that many.
func tokenOf(slot, tokens uint8, second int) guardian.Token {
	t := born(second, 10)
	t.Slot = slot
	wander.SetLastSlot(&t.Load, tokens-1)
	return t
}

// "The number changes when the view has not changed for a minute, and is 1 until then."
func TestTheNumberOfTokensFollowsAViewThatIsSteady(t *testing.T) {
	b := withShare(t, nil)
	b.sees(31)
	b.advance(30 * time.Second)
	b.step(policy.Event{Kind: policy.Woke})
	if n := b.m.(policy.Slotted).Slots(); n != 1 {
		t.Errorf("after half a minute it counts %d", n)
	}
	b.counts(3)
	b.sees(20)
	b.advance(50 * time.Second)
	b.sees(19)
	b.advance(50 * time.Second)
	b.step(policy.Event{Kind: policy.Woke})
	if n := b.m.(policy.Slotted).Slots(); n != 3 {
		t.Errorf("it counts %d, and its view has changed 50 s ago", n)
	}
	b.counts(1)
}

// A token too many "is given up where it rests, and its guardians are told".
func TestATokenTooManyIsGivenUpWhereItRests(t *testing.T) {
	b := withShare(t, func(s *wander.Settings) { s.MinInterval, s.Backups = time.Hour, 2 })
	b.sees(20)
	b.counts(2)
	wantNote(t, b.arrive(tokenOf(0, 2, 1)), wander.NoteRan)
	b.ends(policy.Succeeded)
	b.sees(19)
	b.advance(time.Minute - time.Millisecond)
	held := tokenOf(1, 2, 2)
	held.SetTrail(&guardian.Trail{id(1), id(2)})
	wantNote(t, b.arrive(held), wander.NoteResting)
	b.advance(time.Millisecond)
	b.step(policy.Event{Kind: policy.Woke})
	wantNote(t, b.notes(), wander.NoteRetired)
	told := 0
	for _, e := range b.out {
		if e.Kind == policy.Send && e.Msg.Kind == guardian.KindTombstone && e.Msg.Token.ID == held.ID {
			told++
		}
		if e.Kind == policy.Gave && e.Cause != policy.CauseDropped {
			t.Errorf("it gives the token up as %v", e.Cause)
		}
	}
	if told == 0 {
		t.Error("no guardian is told")
	}
	if n := b.m.(policy.Slotted).Slots(); n != 1 {
		t.Errorf("it counts %d", n)
	}
	// "So a token that others still count does not come here."
	b.step(policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: handoff.KindToken, From: id(1), To: self, Exchange: 99, Token: held.Ref, Load: held.Load,
	}})
	for _, e := range b.out {
		if e.Kind == policy.Send && e.Msg.Kind == handoff.KindAck {
			t.Error("it takes a token that it does not count")
		}
	}
}

// A run that goes on under a token too many ends as any other, and counts for min_interval under the others.
func TestARunUnderATokenTooManyCounts(t *testing.T) {
	b := withShare(t, func(s *wander.Settings) { s.MinInterval = time.Hour })
	b.sees(20)
	b.counts(2)
	wantNote(t, b.arrive(tokenOf(1, 2, 2)), wander.NoteRan)
	began := b.now.Time
	b.sees(19)
	b.counts(2) // It is in use as long as the run goes on.
	wantNote(t, b.ends(policy.Succeeded), wander.NoteRetired)
	if n := b.m.(policy.Slotted).Slots(); n != 1 {
		t.Errorf("after the run it counts %d", n)
	}
	wantNote(t, b.arrive(tokenOf(0, 1, 3)), wander.NoteResting)
	if s := b.m.Status(b.now.Time); !s.HasRun || s.LastRun != began {
		t.Errorf("its last run: %v, at %v, and it began at %v", s.HasRun, s.LastRun, began)
	}
	b.advance(2 * time.Second)
	b.step(policy.Event{Kind: policy.Directed, Paused: true}) // Anything that is saved.
	if again := boothOf(t, b.m, b.saved); !again.saved.HasRun || again.saved.LastRun != began {
		t.Errorf("it has saved %+v", b.saved)
	}
}

// "When it falls, nobody runs under a token too many any more": a run that was granted, and waits for the disk, does
// not start.
func TestAGrantedRunDoesNotStartUnderATokenTooMany(t *testing.T) {
	for _, falls := range []bool{false, true} {
		b := withShare(t, nil)
		b.sees(20)
		b.counts(2)
		if falls {
			b.sees(19)
		}
		b.advance(time.Minute - time.Millisecond)
		b.slow = true
		b.arrive(tokenOf(1, 2, 2))
		b.advance(2 * time.Millisecond)
		b.step(policy.Event{Kind: policy.Saved})
		if b.runs() == falls {
			t.Errorf("the number falls: %v, and a run starts: %v", falls, b.runs())
		}
	}
}

// "Once nothing goes on under it, and no Commit may have to be repeated, its machine goes, too."
func TestAHandoffOfATokenTooManyIsEnded(t *testing.T) {
	sent := func(b *booth, k wire.Kind) (is wire.Message) {
		t.Helper()
		for _, e := range b.out {
			if e.Kind == policy.Send && e.Msg.Kind == k {
				return e.Msg
			}
		}
		t.Fatalf("it does not send %v", k)
		return is
	}
	received := func(b *booth, m wire.Message) {
		b.step(policy.Event{Kind: policy.Received, Msg: m})
	}
	begin := func() *booth {
		b := withShare(t, nil)
		b.sees(20)
		b.counts(2)
		b.sees(19)
		b.advance(time.Minute - time.Millisecond)
		return b
	}
	falls := func(b *booth) {
		b.advance(time.Millisecond)
		b.step(policy.Event{Kind: policy.Woke})
	}
	offer := func(held guardian.Token, x wire.Exchange) wire.Message {
		return wire.Message{
			Gate: 7, Kind: handoff.KindToken, From: id(1), To: self, Exchange: x, Token: held.Ref, Load: held.Load,
		}
	}

	b := begin()
	wantNote(t, b.arrive(tokenOf(1, 2, 2)), wander.NoteRan)
	b.step(policy.Event{Kind: policy.Finished})
	offered := sent(b, handoff.KindToken)
	falls(b)
	ack := handoff.Reply(&offered, handoff.KindAck, 1)
	for range 2 { // The first Commit is lost.
		received(b, ack)
		sent(b, handoff.KindCommit)
	}
	held := tokenOf(1, 2, 3)
	if received(b, offer(held, 99)); len(b.out) > 0 && b.out[0].Kind == policy.Send {
		t.Error("it takes a token that it does not count any more")
	}
	b.sees(20)
	b.counts(2)
	received(b, offer(held, 100))
	sent(b, handoff.KindAck)

	b = begin()
	received(b, offer(held, 99))
	ack = sent(b, handoff.KindAck)
	falls(b)
	received(b, offer(held, 99))
	if again := sent(b, handoff.KindAck); again.Nonce != ack.Nonce {
		t.Error("it begins the handoff once more")
	}
	received(b, handoff.Reply(&ack, handoff.KindCommit, ack.Nonce))
	wantNote(t, b.notes(), wander.NoteRetired)
	b.advance(time.Minute)
	if b.step(policy.Event{Kind: policy.Woke}); b.m.(policy.Slotted).Slots() != 1 {
		t.Error("the machine of a token too many stays")
	}
}

// What comes into use later knows what the first token's machine knows of this member: how often its runs have failed,
// that an operator has paused the gate, and that another host has seen a token.
func TestATokenThatComesIntoUseKnowsThisMember(t *testing.T) {
	const retry = 10 * time.Second
	b := withShare(t, func(s *wander.Settings) { s.MinInterval, s.RetryAfter = time.Hour, retry })
	b.sees(20)
	for failures := range 3 {
		held := tokenOf(0, 1, 1)
		held.Seq += wire.Seq(100 * failures)
		wantNote(t, b.arrive(held), wander.NoteRan)
		b.ends(policy.Failed)
		if failures == 1 {
			b.counts(2)
		}
		if failures < 2 {
			b.advance(time.Minute)
		}
	}
	if in := b.m.(policy.Askable).DueAt(b.now.Time).Sub(b.now.Time); in != 4*retry {
		t.Errorf("after the third failure it is due in %v, want %v", in, 4*retry)
	}
}

func TestATokenThatComesIntoUseIsPausedWithTheOthers(t *testing.T) {
	b := withShare(t, nil)
	b.sees(20)
	b.step(policy.Event{Kind: policy.Directed, Paused: true})
	b.counts(2)
	if b.arrive(tokenOf(1, 2, 2)); b.runs() {
		t.Error("it runs in a pause")
	}
}

// A member that has not counted yet says nothing about the number: others would take the gate for one whose members
// differ, and let each token visit all of them.
func TestAMemberThatHasNotCountedTellsNoOtherNumber(t *testing.T) {
	b := withShare(t, func(s *wander.Settings) { s.Walk = wander.Sweep })
	b.sees(30)
	b.arrive(tokenOf(0, 3, 1))
	b.step(policy.Event{Kind: policy.Finished})
	offers := 0
	for _, e := range b.out {
		if e.Kind != policy.Send || e.Msg.Kind != handoff.KindToken {
			continue
		}
		offers++
		if _, mixed := wander.MixedOf(&e.Msg.Load); mixed || wander.LastSlotOf(&e.Msg.Load) != 2 {
			t.Errorf("it passes on that the last slot is %d; mixed: %v", wander.LastSlotOf(&e.Msg.Load), mixed)
		}
	}
	if offers == 0 {
		t.Error("it offers no token")
	}
	// And one that has counted does not hear a number in the question of one that has not.
	b = withShare(t, func(s *wander.Settings) { s.Walk = wander.Sweep })
	b.sees(30)
	b.counts(3)
	b.step(policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: wander.KindInquiry, From: id(1), To: self, Exchange: 5,
	}})
	b.arrive(tokenOf(0, 3, 1))
	b.step(policy.Event{Kind: policy.Finished})
	for _, e := range b.out {
		if _, mixed := wander.MixedOf(&e.Msg.Load); e.Kind == policy.Send && mixed {
			t.Errorf("it tells of a difference: %+v", e.Msg)
		}
	}
}

// An operator has tokens renewed that are in use, and no others.
func TestOnlyTokensInUseAreRenewed(t *testing.T) {
	b := withShare(t, nil)
	b.sees(20)
	b.counts(2)
	knows := b.m.(policy.Renewable).Knows
	b.advance(time.Hour)
	if why := knows(1, b.now.Time); why != "" {
		t.Error(why)
	}
	b.step(policy.Event{Kind: policy.Renew, Slot: 2})
	if len(b.notes()) > 0 || knows(2, b.now.Time) != "has no such token" {
		t.Errorf("of a token that is not in use it %q, and notes %v", knows(2, b.now.Time), names(b.notes()))
	}
}

func TestAShareCannotChange(t *testing.T) {
	gate := withShare(t, nil).m.(policy.Tunable)
	if gate.Tune(wander.Settings{Skip: skip, SlotsShare: 11}) || gate.Tune(wander.Settings{Skip: skip, Slots: 1}) ||
		!gate.Tune(wander.Settings{Skip: skip, SlotsShare: 10, MinInterval: time.Hour}) {
		t.Error("a gate of which a tenth runs at once is tuned to another number, or not to other constants")
	}
}
