package wander_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// isBack is a member that comes back with a grant that members 1 and 2 keep, in a gate that keeps them for so long.
func isBack(t *testing.T, keep time.Duration) *scenario {
	t.Helper()
	cfg := config()
	cfg.Settings.Keep, cfg.Settings.Backups, cfg.Rejoins = keep, 2, true
	token := born(1, 40)
	token.SetTrail(&guardian.Trail{id(1), id(2)})
	return begin(t, cfg, policy.State{
		Seq: 40, Kept: policy.Kept{Holder: self, Token: token.Ref, Load: token.Load, For: 15 * time.Minute},
	})
}

func (s *scenario) offers() bool {
	return slices.ContainsFunc(s.sent, func(m wire.Message) bool { return m.Kind == handoff.KindToken })
}

// The first members that it sees need not know that others have gone on. It asks those that have kept its grant, and
// only they can say that the token is still its own.
func TestOnlyAGuardianThatKeptAGrantConfirmsIt(t *testing.T) {
	s := isBack(t, 15*time.Minute)
	s.finish()
	s.view(3, 4, 5)
	s.advance(time.Minute)
	if s.offers() {
		t.Fatal("it passes its token on, and nobody has confirmed that it is still its own")
	}
	i := slices.IndexFunc(s.sent, func(m wire.Message) bool { return m.Kind == guardian.KindKeep && m.Nonce&1 == 1 })
	if i < 0 || s.sent[i].To != id(1) {
		t.Fatal("it does not ask those that kept its grant")
	}
	kept := s.sent[i]
	kept.Kind, kept.From, kept.To = guardian.KindKept, kept.To, self
	s.receive(kept)
	s.advance(time.Second)
	if !s.offers() {
		t.Error("it does not pass its token on, although a guardian has confirmed it")
	}
}

// An operator has taken keep out of the configuration while the host was away.
func TestAGateThatKeepsNoGrantsTakesNoneUp(t *testing.T) {
	s := isBack(t, 0)
	s.wantState("absent")
	s.step(policy.Event{Kind: policy.Finished})
	s.wantState("absent")
}

// The first run of a fleet reboots its host, and the guardians of that grant go down, too. The others have met no token
// yet, but gossip has told them of this one, and they tell a newcomer.
func TestNobodyMakesATokenWhileTheHostsThatHaveMetTheFirstOneAreAway(t *testing.T) {
	cfg := config()
	cfg.Settings.Keep, cfg.Settings.Backups = time.Hour, 1
	f := newFleet(t, 7, cfg)
	fleet, newcomer := []int{1, 2, 3, 4, 5, 6}, 0
	f.members[newcomer].crashed = true // It is not there yet.
	for _, i := range fleet {
		f.sees(0, i, fleet...)
	}
	for f.created == 0 {
		f.advance(f.gossip / 8)
	}
	f.advance(f.gossip / 8)
	var left []int
	for _, i := range fleet {
		if f.members[i].crashed = f.members[i].known; !f.members[i].crashed {
			left = append(left, i)
		}
	}
	if n := len(fleet) - len(left); n != 2 {
		t.Fatalf("%d members have met the token, want its holder and its guardian", n)
	}
	f.advance(3 * f.gossip)
	left, f.members[newcomer].crashed = append(left, newcomer), false
	for _, i := range left {
		f.sees(0, i, left...)
	}
	f.advance(cfg.Keep)
	if f.created != 1 || f.regenerated != 0 {
		t.Errorf("%d tokens were made while hosts may be away, %d of them as the first one", f.created+f.regenerated,
			f.created)
	}
}

// While a host is looked at that is back, it can ask whether its grant is still kept.
func TestOnlyAGuardianAnswersWhetherAGrantIsStillKept(t *testing.T) {
	s := isBack(t, 15*time.Minute)
	s.view(1, 2)
	asks := policy.Keeper(s.m)
	if policy.Keeper(guarded(t).m).KeepersAnswered() {
		t.Fatal("a member that keeps no grant says that it is kept")
	}
	answer := func() {
		t.Helper()
		i := slices.IndexFunc(s.sent, func(m wire.Message) bool { return m.Kind == guardian.KindKeep })
		if i < 0 {
			t.Fatal("it asks nobody")
		}
		kept := s.sent[i]
		kept.Kind, kept.From, kept.To = guardian.KindKept, kept.To, self
		s.receive(kept)
	}
	s.advance(time.Second)
	answer()
	s.sent = nil
	if !asks.AskKeepers() || asks.KeepersAnswered() {
		t.Fatal("nobody has answered since it asks")
	}
	s.advance(time.Second)
	if answer(); !asks.KeepersAnswered() {
		t.Error("a guardian has answered")
	}
}

// The member to which a host that is back offers its token is gone, and a guardian that it does not see again yet
// answers that it knows no other copy. The holder chooses its guardians again. It tells the one that is none any more,
// which would revive the token under the next grant.
func TestAGuardianThatIsNotSeenIsReleased(t *testing.T) {
	s := isBack(t, 15*time.Minute)
	s.view(1, 2, 3)
	s.view(1, 3)
	s.finish()
	s.advance(time.Second)
	i := slices.IndexFunc(s.sent, func(m wire.Message) bool { return m.Kind == guardian.KindKeep && m.Nonce&1 == 1 })
	kept := s.sent[i]
	kept.Kind, kept.From, kept.To = guardian.KindKept, id(2), self
	s.receive(kept)
	for range 100 {
		if s.advance(timeout / 4); slices.ContainsFunc(s.sent, func(m wire.Message) bool {
			return m.Kind == guardian.KindAsk && m.To == id(2)
		}) {
			break
		}
	}
	s.answer(2)
	s.wantTrail()
	if !slices.ContainsFunc(s.sent, func(m wire.Message) bool {
		trail := guardian.TrailOf(&m.Load)
		return m.Kind == guardian.KindHeartbeat && m.To == id(2) && !trail.Has(id(2))
	}) {
		t.Error("it does not tell the guardian that it is none any more")
	}
}

// A host that is back, and learns that others have gone on, forgets its grant on its disk, too: its next life would
// hold a token that is another's.
func TestAGrantThatWasOvertakenIsForgottenOnTheDisk(t *testing.T) {
	s := isBack(t, 15*time.Minute)
	s.view(1, 2)
	if k := s.saved.Kept; !k.Is() {
		t.Fatal("it has no grant on its disk")
	}
	s.receive(word(guardian.KindHeartbeat, 2, born(1, 1000)))
	s.wantState("running") // Its shell has yet to end what it looks after.
	if k := s.saved.Kept; k.Is() {
		t.Errorf("its grant was overtaken, and the disk has %+v", k)
	}
}
