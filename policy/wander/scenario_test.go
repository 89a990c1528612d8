package wander_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// The constants of the paper's table 2, a unit being a second.
const (
	skip        = time.Second
	op          = 4 * time.Second
	minInterval = 600 * time.Second
	maxInterval = 1800 * time.Second

	// timeout is a handoff's: skip, as that is more than a quarter of a second.
	timeout = skip

	noon = int64(1_700_000_000_000_000_000)
)

// id names the members; self is the third of the members of a view.
func id(i int) wire.MemberID { return wire.MemberID{byte(i), 0xee} }

var self = id(3)

// born returns a token by the second of its birth after noon.
func born(second int, seq wire.Seq) guardian.Token {
	return guardian.Token{Ref: wire.Ref{
		ID:  wire.TokenID{Birth: noon + int64(second)*int64(time.Second), Generator: id(100), Random: uint64(second)},
		Seq: seq,
	}}
}

func config() wander.Config {
	return wander.Config{
		Env:      policy.Env{Gate: 7, Self: self, Entropy: rand.NewPCG(1, 2)},
		Settings: &wander.Settings{Skip: skip, Op: op, MinInterval: minInterval},
	}
}

// scenario is one member, its clock and the effects it has had. The test plays all other members. After each step it
// checks what must always hold.
type scenario struct {
	t     *testing.T
	m     *wander.Machine
	now   policy.Instant
	out   []policy.Effect
	event policy.Event

	notes []policy.Note
	sent  []wire.Message
	runs  []wire.Ref
	// demanded is true if the last of them is only for waiting callers.
	demanded bool
	stops    int
	// preSigned is what the guard of the run is to send.
	preSigned []wire.Message
	announced int
	// hands are the tokens that it has taken and not given up; gone is how often it has reported that it is gone.
	hands []wire.TokenID
	gone  int
	saved policy.State
	// disk is what saves do; unsaved is true while a save is under way.
	disk    disk
	unsaved bool
	// savedAt is when the last save was asked for.
	savedAt policy.Time
	// within is how long a run may wait for its save.
	within   time.Duration
	handoffs wire.Exchange
	// numbers are the highest numbers that each token had when it came or went.
	numbers map[wire.TokenID]wire.Seq
}

// begin starts a member with what an earlier life saved.
func begin(t *testing.T, cfg wander.Config, saved policy.State) *scenario {
	t.Helper()
	s := &scenario{t: t, m: wander.New(cfg), saved: saved, handoffs: 1 << 32, numbers: map[wire.TokenID]wire.Seq{}}
	s.within = max(cfg.Skip, 250*time.Millisecond) / 2
	s.now = policy.Instant{Time: policy.Time(time.Hour), Wall: noon + int64(time.Hour)}
	s.step(policy.Event{Kind: policy.Started, State: saved})
	return s
}

// inFleet starts a member that has never run, in a fleet of five that has a token.
func inFleet(t *testing.T) *scenario {
	t.Helper()
	s := begin(t, config(), policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	return s
}

func (s *scenario) step(ev policy.Event) {
	s.t.Helper()
	s.out = s.out[:0]
	s.take(ev)
	if s.unsaved && s.disk != slowDisk {
		s.saves(s.disk == brokenDisk)
	}
}

// disk is what the disk of a member does.
type disk int

const (
	goodDisk disk = iota
	brokenDisk
	slowDisk
)

// saves ends the save that is under way. Its effects are added to those of the step.
func (s *scenario) saves(failed bool) {
	s.t.Helper()
	s.unsaved = false
	s.take(policy.Event{Kind: policy.Saved, Failed: failed})
}

// take lets the member take one event.
func (s *scenario) take(ev policy.Event) {
	s.t.Helper()
	s.event = ev
	before := len(s.out)
	s.out = s.m.Step(s.now, &s.event, s.out)
	for i := before; i < len(s.out); i++ {
		switch e := &s.out[i]; e.Kind {
		case policy.Save:
			s.saved, s.unsaved, s.savedAt = e.State, true, s.now.Time
		case policy.Send:
			s.sent = append(s.sent, e.Msg)
		case policy.Run:
			counts := s.saved.LastRun == s.savedAt && soft.MemoOf(&s.saved.Memo).Token == e.Token.ID
			if s.demanded = e.Demanded; s.unsaved || !counts && !e.Demanded || s.saved.Seq < e.Token.Seq {
				s.t.Fatalf("the run under %+v starts before it is saved: %+v", e.Token, s.saved)
			}
			if latest := s.savedAt.Add(s.within); s.now.Time > latest || e.StartBy != latest {
				s.t.Fatalf("the run starts by %v, %v after it was granted", e.StartBy, s.now.Time.Sub(s.savedAt))
			}
			if n := len(s.runs); n > 0 && e.Token.Seq <= s.runs[n-1].Seq {
				s.t.Fatalf("fencing number %d after %d", e.Token.Seq, s.runs[n-1].Seq)
			}
			s.runs, s.preSigned = append(s.runs, e.Token), nil
		case policy.Extend, policy.Proclaim:
			s.t.Fatal("a soft gate sets no end, and knows of no directives")
		case policy.Stop:
			s.stops++
		case policy.PreSign:
			s.preSigned = append(s.preSigned, e.Msg)
			if e.Msg.Kind == 0 {
				s.preSigned = nil
			}
		case policy.Took:
			s.hands = append(s.hands, e.Token.ID)
		case policy.Gave:
			if last := len(s.hands) - 1; last < 0 || s.hands[last] != e.Token.ID {
				s.t.Fatalf("it gives up %v and has %v", e.Token.ID, s.hands)
			}
			s.hands = s.hands[:len(s.hands)-1]
		case policy.Gone:
			s.gone++
		case policy.Announce:
			s.announced++
		case policy.Tell:
			s.notes = append(s.notes, e.Note)
		}
	}
	st := s.m.Status(s.now.Time)
	if holds := len(s.hands) == 1 && s.hands[0] == st.Token.ID; holds != st.Holding || len(s.hands) > 1 {
		s.t.Fatalf("it has taken %v and not given up, and its status is %+v", s.hands, st)
	}
	if left := st.Phase == "gone"; left != (s.gone == 1) {
		s.t.Fatalf("it is %s, and has said %d times that it is gone", st.Phase, s.gone)
	}
	if at, ok := s.m.NextWake(); ev.Kind == policy.Woke && ok && at <= s.now.Time {
		s.t.Fatalf("woken at %v, it asks for %v: %s", s.now.Time, at, s.m)
	}
}

// view gives the member a view without news of a token; fleet gives one with such news.
func (s *scenario) view(ids ...int)  { s.t.Helper(); s.changed(false, ids) }
func (s *scenario) fleet(ids ...int) { s.t.Helper(); s.changed(true, ids) }

func (s *scenario) changed(known bool, ids []int) {
	s.t.Helper()
	peers := make([]wire.MemberID, len(ids))
	for i, each := range ids {
		peers[i] = id(each)
	}
	slices.SortFunc(peers, wire.MemberID.Compare)
	s.step(policy.Event{Kind: policy.PeersChanged, Peers: peers, TokenKnown: known})
}

func (s *scenario) receive(msg wire.Message) {
	s.t.Helper()
	expected, before := s.m.Expects(&msg), *s.m
	sent := len(s.sent)
	s.step(policy.Event{Kind: policy.Received, Msg: msg})
	if !expected && (len(s.sent) > sent || !reflect.DeepEqual(before, *s.m)) {
		s.t.Fatalf("a %v that was not expected changed something", msg.Kind)
	}
}

// offerIn returns the Token message of a new handoff to this member.
func (s *scenario) offerIn(token guardian.Token, from int) wire.Message {
	s.handoffs++
	return wire.Message{
		Gate: 7, Kind: handoff.KindToken, From: id(from), To: self, Exchange: s.handoffs,
		Token: token.Ref, Load: token.Load,
	}
}

// acknowledged offers a token and returns the Commit that would end the handoff. Along its way a token's number rises.
func (s *scenario) acknowledged(token guardian.Token, from int) (commit wire.Message) {
	s.t.Helper()
	if last := s.numbers[token.ID]; token.Seq <= last {
		token.Seq = last + 1
	}
	s.numbers[token.ID] = token.Seq
	s.receive(s.offerIn(token, from))
	ack := s.lastSent(handoff.KindAck)
	return handoff.Reply(ack, handoff.KindCommit, ack.Nonce)
}

// arrive carries a whole handoff to this member.
func (s *scenario) arrive(token guardian.Token, from int) {
	s.t.Helper()
	s.receive(s.acknowledged(token, from))
}

// ack takes the offered token, as the member to which it is offered, and returns it.
func (s *scenario) ack() (guardian.Token, wire.MemberID) {
	s.t.Helper()
	offer := s.lastSent(handoff.KindToken)
	s.numbers[offer.Token.ID] = offer.Token.Seq
	s.receive(handoff.Reply(offer, handoff.KindAck, 77))
	s.wantState("absent")
	return guardian.TokenOf(offer), offer.To
}

func (s *scenario) lastSent(kind wire.Kind) *wire.Message {
	s.t.Helper()
	if n := len(s.sent); n > 0 && s.sent[n-1].Kind == kind {
		return &s.sent[n-1]
	}
	s.t.Fatalf("the last message is no %v: %v", kind, s.sent)
	return nil
}

func (s *scenario) finish() { s.t.Helper(); s.step(policy.Event{Kind: policy.Finished}) }
func (s *scenario) leave()  { s.t.Helper(); s.step(policy.Event{Kind: policy.Leave}) }

// sleep suspends the host: time passes and the member is not woken.
func (s *scenario) sleep(d time.Duration) {
	s.t.Helper()
	s.pass(d)
	s.step(policy.Event{Kind: policy.Suspended, Slept: d})
}

func (s *scenario) pass(d time.Duration) {
	s.now.Time = s.now.Time.Add(d)
	s.now.Wall += int64(d)
}

// advance lets time pass and wakes the member whenever it asks for it.
func (s *scenario) advance(d time.Duration) {
	s.t.Helper()
	for end := s.now.Time.Add(d); ; {
		at, ok := s.m.NextWake()
		if !ok || at > end {
			s.pass(end.Sub(s.now.Time))
			return
		}
		s.pass(max(at.Sub(s.now.Time), 0))
		s.step(policy.Event{Kind: policy.Woke})
	}
}

func (s *scenario) wantState(want string) {
	s.t.Helper()
	if got := s.m.Detail(s.now.Time).Phase; got != want {
		s.t.Fatalf("it is %s, want %s", got, want)
	}
}

// wantNotes wants exactly these notes since the last call.
func (s *scenario) wantNotes(want ...policy.Note) {
	s.t.Helper()
	if !slices.Equal(s.notes, want) {
		s.t.Fatalf("it notes %v, want %v", names(s.notes), names(want))
	}
	s.notes = nil
}

func (s *scenario) wantRuns(want int) {
	s.t.Helper()
	if len(s.runs) != want {
		s.t.Fatalf("it ran %d times, want %d", len(s.runs), want)
	}
}

// wantHeld wants that the member holds this token.
func (s *scenario) wantHeld(want wire.TokenID) {
	s.t.Helper()
	if st := s.m.Detail(s.now.Time); !st.Holding || st.Token.ID != want {
		s.t.Fatalf("it holds %v (%v), want %v", st.Token.ID, st.Holding, want)
	}
}

// ran brings the member to a state in which it has just run under token and passed it on, and min_interval is not over.
func (s *scenario) ran(token guardian.Token) {
	s.t.Helper()
	s.arrive(token, 1)
	s.wantState("running")
	s.advance(op)
	s.finish()
	s.ack()
	s.notes = nil
}

func (s *scenario) wantRegenerateAfter(want time.Duration) {
	s.t.Helper()
	if got := s.m.Detail(s.now.Time).RegenerateAfter; got != want {
		s.t.Fatalf("regenerate-after is %v, want %v", got, want)
	}
}
