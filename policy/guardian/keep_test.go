package guardian_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// keepsFor is how long the grants of these tests outlive their hosts.
const keepsFor = time.Minute

// pair is the holder of a kept grant, ann, and its only guardian, bob.
type pair struct {
	t        *testing.T
	now      policy.Time
	ann, bob guardian.Machine
	token    guardian.Token
	// sent are the messages to bob.
	sent []wire.Message
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, token: born(10, 5, bobsID)}
	p.ann, p.bob = p.machine(annsID), p.machine(bobsID)
	p.deliver(p.ann.Keep(p.now, &p.token, nil))
	p.wantKept(true)
	return p
}

func (p *pair) machine(id wire.MemberID) guardian.Machine {
	entropy := rand.NewPCG(uint64(id[0]), 1)
	return guardian.New(guardian.Config{Gate: gate, Self: id, Patience: patience, Keep: keepsFor, Entropy: entropy})
}

// deliver hands the messages over at once. Bob saves at once, too.
func (p *pair) deliver(out []policy.Effect) {
	p.t.Helper()
	var end guardian.Outcome
	for _, e := range out {
		switch {
		case e.Kind != policy.Send:
		case e.Msg.To == bobsID:
			p.sent = append(p.sent, e.Msg)
			back := p.bob.Receive(p.now, &e.Msg, nil, &end, nil)
			if p.bob.MustSave() {
				p.bob.Saving()
				back = p.bob.Saved(false, back)
			}
			p.deliver(back)
		default:
			p.deliver(p.ann.Receive(p.now, &e.Msg, &p.token, &end, nil))
		}
	}
}

// passes lets time pass in which the holder sends its heartbeats.
func (p *pair) passes(d time.Duration) {
	p.t.Helper()
	var end guardian.Outcome
	for until := p.now.Add(d); p.now < until; p.now = p.now.Add(patience / 8) {
		p.deliver(p.ann.Wake(p.now, &p.token, &end, nil))
	}
}

// restart is a new life of ann, which takes its kept grant up.
func (p *pair) restart() {
	p.t.Helper()
	p.ann = p.machine(annsID)
	p.deliver(p.ann.Keep(p.now, &p.token, nil))
}

// wantKept checks until when bob keeps the grant; prolonged says whether it was heard a patience ago at most.
func (p *pair) wantKept(prolonged bool) {
	p.t.Helper()
	at, ok := p.bob.KeptUntil()
	if !ok {
		p.t.Fatal("no grant is kept")
	}
	if fresh := at >= p.now.Add(keepsFor-patience); fresh != prolonged {
		p.t.Errorf("it is kept for %v more, of %v", at.Sub(p.now), keepsFor)
	}
}

// A holder that comes back counts its heartbeats from one again. What comes after it, such as the soak of its host, may
// take longer than the grant is kept.
func TestAHolderThatCameBackIsHeardAtOnce(t *testing.T) {
	p := newPair(t)
	p.passes(10 * keepsFor)
	p.now = p.now.Add(keepsFor / 2)
	p.restart()
	p.passes(2 * patience)
	p.wantKept(true)
	p.ann.EndKeep()
	p.passes(2 * patience)
	if _, ok := p.bob.KeptUntil(); ok {
		t.Error("the grant is kept on, although its run is over")
	}
}

func TestAKeepThatIsPlayedBackProlongsNothing(t *testing.T) {
	p := newPair(t)
	old := p.sent[len(p.sent)-1]
	if old.Kind != guardian.KindKeep {
		t.Fatalf("the last message is a %s", nameOf(old.Kind))
	}
	p.passes(keepsFor)
	p.now = p.now.Add(keepsFor / 2)
	var end guardian.Outcome
	p.bob.Receive(p.now, &old, nil, &end, nil)
	p.wantKept(false)
}

// A guardian that lies cannot bring the numbers of heartbeats to their end.
func TestAHolderTakesOverNoEndlessCount(t *testing.T) {
	p := newPair(t)
	p.restart()
	keep := p.sent[len(p.sent)-1]
	lie := keep
	lie.Kind, lie.From, lie.To, lie.Nonce = guardian.KindKept, bobsID, annsID, 1<<63
	var end guardian.Outcome
	p.ann.Receive(p.now, &lie, &p.token, &end, nil)
	p.sent = nil
	p.passes(patience)
	for _, m := range p.sent {
		if m.Kind == guardian.KindHeartbeat && m.Nonce > 100 {
			t.Fatalf("a heartbeat has the number %d", m.Nonce)
		}
	}
	p.wantKept(true)
}

// A guardian that has heard a later heartbeat takes a Keep for an old one, and keeps nothing. Its answer is no yes: the
// holder asks again.
func TestAGuardianThatTakesAKeepForAnOldOneDoesNotCount(t *testing.T) {
	p := &pair{t: t, token: born(10, 5, bobsID)}
	p.ann, p.bob = p.machine(annsID), p.machine(bobsID)
	late := p.ann.Keep(p.now, &p.token, nil)
	p.deliver(p.ann.Greet(bobsID, &p.token, nil))
	p.deliver(late)
	if _, keeps := p.bob.KeptUntil(); keeps || p.ann.AllKeep(&p.token) {
		t.Fatalf("bob keeps the grant: %v, and ann takes it for kept: %v", keeps, p.ann.AllKeep(&p.token))
	}
	if p.passes(patience); !p.ann.AllKeep(&p.token) {
		t.Error("ann does not ask again")
	}
	p.wantKept(true)
}

// Bob has passed the token to ann, so he knows its number, and guards it no more. Ann's host may go down at once.
func TestAGuardianThatIsChosenUnderAKnownNumberKeepsTheGrantAtOnce(t *testing.T) {
	passed := born(10, 5)
	p := &pair{t: t, token: since(passed, passed.Seq.After())}
	p.ann, p.bob = p.machine(annsID), p.machine(bobsID)
	p.bob.Passed(p.now, guardian.Trail{}, &passed, annsID, nil)
	var end guardian.Outcome
	released := p.ann.Greet(bobsID, &p.token, nil)
	p.bob.Receive(p.now, &released[0].Msg, nil, &end, nil)
	p.token.SetTrail(&guardian.Trail{bobsID})
	out := p.ann.Keep(p.now, &p.token, nil)
	if len(out) != 2 || out[1].Msg.Kind != guardian.KindKeep {
		t.Fatalf("%d messages, want a heartbeat and a Keep", len(out))
	}
	p.deliver(out[1:])
	p.wantKept(true)
	p.bob.Receive(p.now, &released[0].Msg, nil, &end, nil) // It is played back.
	p.deliver(out[:1])
	p.wantKept(true)
	if !p.ann.AllKeep(&p.token) {
		t.Error("ann does not know that bob keeps the grant")
	}
}

// "Kept" is what a guardian says once the grant is on its disk. A save that fails, or that began before this grant, is
// not enough: the holder asks again.
func TestAGuardianSaysThatItKeepsOnlyWhatItHasSaved(t *testing.T) {
	asks := func(p *pair) {
		t.Helper()
		for _, e := range p.ann.Keep(p.now, &p.token, nil) {
			var end guardian.Outcome
			if out := p.bob.Receive(p.now, &e.Msg, nil, &end, nil); saysThatItKeeps(out) {
				t.Fatal("it says that it keeps the grant before that is saved")
			}
		}
		if !p.bob.MustSave() {
			t.Fatal("it saves no grant")
		}
	}
	for name, meanwhile := range map[string]func(p *pair) (failed bool){
		"the save fails": func(*pair) bool { return true },
		"another grant follows": func(p *pair) bool {
			p.token, p.ann = since(p.token, p.token.Seq.After()), p.machine(annsID)
			asks(p)
			return false
		},
	} {
		p := &pair{t: t, token: born(10, 5, bobsID)}
		p.ann, p.bob = p.machine(annsID), p.machine(bobsID)
		asks(p)
		p.bob.Saving()
		if saysThatItKeeps(p.bob.Saved(meanwhile(p), nil)) {
			t.Errorf("%s, and it says that it keeps the grant", name)
		}
		if p.passes(patience); !p.ann.AllKeep(&p.token) {
			t.Errorf("%s, and the holder does not ask again", name)
		}
	}
}

func saysThatItKeeps(out []policy.Effect) bool {
	return slices.ContainsFunc(out, func(e policy.Effect) bool {
		return e.Kind == policy.Send && e.Msg.Kind == guardian.KindKept
	})
}
