package wander_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// soak is how long hosts soak in these tests.
const soak = 10 * time.Minute

// soaks is a member of a fleet of five whose hosts soak.
func soaks(t *testing.T) *scenario {
	t.Helper()
	cfg := config()
	cfg.Settings.Soak, cfg.Settings.Backups = soak, 2
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	return s
}

// diesInSoak is this member once it has revived a token, which member 1 held that died in its soak, with so much left.
func diesInSoak(t *testing.T, left time.Duration) *scenario {
	t.Helper()
	s := soaks(t)
	s.revives(left)
	return s
}

func (s *scenario) revives(left time.Duration) {
	s.t.Helper()
	token := born(1, 20)
	token.SetTrail(&guardian.Trail{self})
	guardian.SetSoakLeft(&token.Load, left)
	s.receive(wire.Message{
		Gate: 7, Kind: guardian.KindHeartbeat, From: id(1), To: self, Nonce: 1, Token: token.Ref, Load: token.Load,
	})
	s.advance(2 * skip)
	s.wantHeld(token.ID)
}

// told is what the last message of a kind tells of a soak.
func (s *scenario) told(kind wire.Kind) time.Duration {
	s.t.Helper()
	for _, m := range slices.Backward(s.sent) {
		if m.Kind == kind {
			return guardian.SoakLeft(&m.Load)
		}
	}
	s.t.Fatalf("it sends no %v", kind)
	return 0
}

func TestNobodyStartsBeforeTheSoakOfADeadHostIsOver(t *testing.T) {
	s := diesInSoak(t, 6*time.Minute)
	s.wantState("resting")
	s.advance(6*time.Minute - 3*skip)
	s.wantRuns(0)
	s.wantState("resting")
	if s.wantWhy(soft.WhyUnused); policy.Find(s.m.Facts(s.now.Time, nil), policy.KeySoakUntil) == nil {
		t.Error("its status does not say until when")
	}
	s.advance(time.Minute) // What was left was told rounded up.
	s.wantRuns(1)
}

func TestACallerWaitsForTheEndOfTheSoakOfADeadHost(t *testing.T) {
	s := soaks(t)
	s.ran(born(1, 10))
	s.revives(6 * time.Minute)
	s.step(policy.Event{Kind: policy.Wanted})
	s.advance(5 * time.Minute)
	s.wantRuns(1)
	s.advance(2 * time.Minute)
	s.wantRuns(2)
}

func TestATokenThatIsNotUsedIsPassedOnOnlyByAMemberThatLeaves(t *testing.T) {
	s := diesInSoak(t, 6*time.Minute)
	if s.advance(time.Minute); s.offers() {
		t.Fatal("it passes the token on before the soak is over")
	}
	s.leave()
	s.advance(time.Millisecond)
	if left := s.told(handoff.KindToken); left < 4*time.Minute {
		t.Errorf("the token goes on with %v left of the soak", left)
	}
}

func TestATokenThatComesInASoakIsNotUsed(t *testing.T) {
	s := soaks(t)
	token := born(1, 10)
	guardian.SetSoakLeft(&token.Load, 6*time.Minute)
	s.arrive(token, 1)
	s.advance(5 * time.Minute)
	s.wantRuns(0)
	s.advance(2 * time.Minute)
	s.wantRuns(1)
}

func TestAHolderTellsItsGuardiansForHowLongItsHostSoaks(t *testing.T) {
	s := soaks(t)
	token := born(1, 10)
	token.SetTrail(&guardian.Trail{id(1), id(2)})
	s.arrive(token, 1)
	s.wantRuns(1)
	s.sent = nil
	s.step(policy.Event{Kind: policy.Soaks, Soak: soak})
	if left := s.told(guardian.KindHeartbeat); left < soak {
		t.Errorf("the guardians are told of %v", left)
	}
	s.advance(soak / 2)
	if left := s.told(guardian.KindHeartbeat); left < soak/2 || left > soak*3/4 {
		t.Errorf("in the middle of its soak they are told of %v", left)
	}
	s.sent = nil
	s.finish() // The host is not healthy, or its agent stops.
	if left := s.told(guardian.KindHeartbeat); left != 0 {
		t.Errorf("the soak has ended early, and they are told of %v", left)
	}
	if left := s.told(handoff.KindToken); left != 0 {
		t.Errorf("the token goes on with %v", left)
	}
}

// A stop cuts the soak short for this host, and not for the others.
func TestAMemberThatIsStoppedInItsSoakPassesOnWhatIsLeft(t *testing.T) {
	s := soaks(t)
	s.arrive(born(1, 10), 1)
	s.step(policy.Event{Kind: policy.Soaks, Soak: soak})
	s.leave()
	s.step(policy.Event{Kind: policy.Finished, SoakGoesOn: true})
	if left := s.told(handoff.KindToken); left < soak {
		t.Errorf("the token goes on with %v", left)
	}
}

// A kept grant outlives the host, which soaks for the whole time again when it is back.
func TestAMemberThatIsBackSaysNothingOfASoakOfBefore(t *testing.T) {
	cfg := config()
	cfg.Settings.Keep, cfg.Settings.Soak, cfg.Settings.Backups, cfg.Rejoins = 15*time.Minute, soak, 2, true
	token := born(1, 40)
	token.SetTrail(&guardian.Trail{id(1), id(2)})
	guardian.SetSoakLeft(&token.Load, 5*time.Minute)
	s := begin(t, cfg, policy.State{
		Seq: 40, Kept: policy.Kept{Holder: self, Token: token.Ref, Load: token.Load, For: 15 * time.Minute},
	})
	if left := s.told(guardian.KindHeartbeat); left != 0 {
		t.Errorf("it tells of %v", left)
	}
}

// A host that was to soak finds out that its token has another holder. What it holds no longer, it says nothing about.
func TestASoakGoesOnWithoutTheToken(t *testing.T) {
	s := soaks(t)
	token := born(1, 10)
	token.SetTrail(&guardian.Trail{id(1), id(2)})
	s.arrive(token, 1)
	s.receive(wire.Message{
		Gate: 7, Kind: guardian.KindHeartbeat, From: id(2), To: self, Nonce: 1, Token: born(1, 1<<40).Ref,
	})
	s.sent = nil
	s.step(policy.Event{Kind: policy.Soaks, Soak: soak})
	s.advance(time.Minute)
	s.finish()
	if len(s.sent) > 0 {
		t.Errorf("it sends %v", s.sent[0].Kind)
	}
	s.wantState("absent")
}

// Under the token that is left to it, the next run is no more due than before.
func TestASoakOutsideOfARunIsNoNews(t *testing.T) {
	s := soaks(t)
	s.step(policy.Event{Kind: policy.Soaks, Soak: soak})
	s.arrive(born(1, 10), 1)
	s.wantRuns(1)
}

func TestOtherConstantsEndNoSoak(t *testing.T) {
	s := diesInSoak(t, 6*time.Minute)
	with := settings(minInterval)
	with.Soak = soak
	tune(t, s, with)
	s.advance(5 * time.Minute)
	s.wantRuns(0)
	s.wantState("resting")
}
