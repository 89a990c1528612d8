package wander_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"testing"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/explore"
	"github.com/wanderd/wanderd/wire"
)

// rivals are three members that are due and get a token each, in one state: a value, except for way.
type rivals struct {
	machines        [3]wander.Machine
	running, saving [3]bool
	ran             int
	// way are the messages on their way, in the order of their bytes.
	way []wire.Message
}

// rivalry explores all orders in which they can get their tokens, ask, answer, save and run, while each message arrives
// before any member loses patience.
type rivalry struct {
	explore.Search[rivals]
	now  policy.Instant
	seed maphash.Seed
	// ends counts the states in which nothing more happens.
	ends int
}

// constant is an entropy for which all states of a member are alike.
type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

// Members that ask, and are answered in time, never run at once, whatever tokens they have; and they do not block each
// other: one runs.
func TestMembersThatAskNeverRunAtOnce(t *testing.T) {
	for name, tokens := range map[string][]guardian.Token{
		"two copies of the older of two": {born(1, 70), born(2, 50), born(1, 60)},
		"copies with the same number":    {born(1, 50), born(1, 50), born(1, 50)},
	} {
		r := rivalry{now: policy.Instant{Time: 1, Wall: noon}, seed: maphash.MakeSeed()}
		r.Visited, r.Branch, r.Judge, r.End = explore.ByKey(r.key), r.branch, neverAtOnce, r.end
		if err := r.From(r.begin(tokens)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %d states, %d ends", name, r.States, r.ends)
		if r.ends == 0 {
			t.Error("none ends")
		}
	}
}

// begin is the state in which each member has acknowledged an offer; the Commits are on their way.
func (r *rivalry) begin(tokens []guardian.Token) *rivals {
	var s rivals
	ids := []wire.MemberID{id(1), id(2), id(3)}
	for i := range ids {
		cfg := config()
		cfg.Self, cfg.AskBeforeRun, cfg.Entropy = ids[i], true, constant(i+1)
		s.machines[i] = *wander.New(cfg)
		r.step(&s, i, &policy.Event{Kind: policy.Started})
		r.step(&s, i, &policy.Event{Kind: policy.PeersChanged, Peers: ids, TokenKnown: true})
		offer := wire.Message{
			Gate: cfg.Gate, Kind: handoff.KindToken, From: id(9), To: ids[i], Exchange: wire.Exchange(i + 1),
			Token: tokens[i].Ref, Load: tokens[i].Load,
		}
		out := s.machines[i].Step(r.now, &policy.Event{Kind: policy.Received, Msg: offer}, nil)
		ack := slices.IndexFunc(out, func(e policy.Effect) bool {
			return e.Kind == policy.Send && e.Msg.Kind == handoff.KindAck
		})
		s.way = append(s.way, handoff.Reply(&out[ack].Msg, handoff.KindCommit, out[ack].Msg.Nonce))
	}
	return &s
}

// step gives a member an event. Messages about anything but the runs stay on the way for ever.
func (r *rivalry) step(s *rivals, i int, ev *policy.Event) {
	for _, e := range s.machines[i].Step(r.now, ev, nil) {
		switch {
		case e.Kind == policy.Save:
			s.saving[i] = true
		case e.Kind == policy.Run:
			s.running[i] = true
			s.ran++
		case e.Kind == policy.Send && e.Msg.Kind >= wander.KindIntent:
			s.way = append(s.way, e.Msg)
		}
	}
}

func neverAtOnce(s *rivals) error {
	if first := slices.Index(s.running[:], true); first >= 0 && slices.Contains(s.running[first+1:], true) {
		return fmt.Errorf("two run at once: %v", s.running)
	}
	return nil
}

func (r *rivalry) end(s *rivals) error {
	if r.ends++; s.ran == 0 {
		return errors.New("nobody runs")
	}
	return nil
}

func (r *rivalry) branch(s *rivals, reach func(*rivals, string)) {
	copied := func() *rivals {
		next := *s
		next.way = slices.Clone(s.way)
		return &next
	}
	for k := range s.way {
		next := copied()
		m := next.way[k]
		next.way = slices.Delete(next.way, k, k+1)
		r.step(next, int(m.To[0])-1, &policy.Event{Kind: policy.Received, Msg: m})
		reach(next, m.Kind.String()+" arrives")
	}
	for i := range s.machines {
		if s.saving[i] {
			next := copied()
			next.saving[i] = false
			r.step(next, i, &policy.Event{Kind: policy.Saved})
			reach(next, fmt.Sprintf("%d has saved", i))
		}
		if s.running[i] {
			next := copied()
			next.running[i] = false
			r.step(next, i, &policy.Event{Kind: policy.Finished})
			reach(next, fmt.Sprintf("the run of %d ends", i))
		}
	}
}

// key is the same only for states that are alike, except for collisions of the hash. Machines are plain values.
func (r *rivalry) key(s *rivals) uint64 {
	slices.SortFunc(s.way, func(a, b wire.Message) int {
		var x, y [2 * wire.ContentSize]byte
		return bytes.Compare(a.Append(x[:0]), b.Append(y[:0]))
	})
	var h maphash.Hash
	h.SetSeed(r.seed)
	h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&s.machines)), unsafe.Sizeof(s.machines)))
	for i := range s.way {
		maphash.WriteComparable(&h, s.way[i])
	}
	maphash.WriteComparable(&h, s.running)
	maphash.WriteComparable(&h, s.saving)
	return h.Sum64()
}
