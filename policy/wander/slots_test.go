package wander_test

import (
	"math/rand/v2"
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

// booth is one member of a gate with several tokens. The test plays all other members.
type booth struct {
	t     *testing.T
	m     policy.Machine
	now   policy.Instant
	out   []policy.Effect
	saved policy.State
	// slow is true if the test ends the saves.
	slow  bool
	offer wire.Exchange
}

func newBooth(t *testing.T, slots int, saved policy.State) *booth {
	t.Helper()
	return boothOf(t, wander.NewGate(config(), slots), saved)
}

// boothOf starts a member in a fleet of five that has its tokens.
func boothOf(t *testing.T, m policy.Machine, saved policy.State) *booth {
	t.Helper()
	b := &booth{t: t, m: m, saved: saved}
	b.now = policy.Instant{Time: policy.Time(time.Hour), Wall: noon + int64(time.Hour)}
	b.step(policy.Event{Kind: policy.Started, State: saved})
	peers := []wire.MemberID{id(1), id(2), self, id(4), id(5)}
	b.step(policy.Event{Kind: policy.PeersChanged, Peers: peers, TokenKnown: true})
	return b
}

func (b *booth) step(ev policy.Event) {
	b.out = b.m.Step(b.now, &ev, b.out[:0])
	saves := false
	for i := range b.out {
		if b.out[i].Kind == policy.Save {
			b.saved, saves = b.out[i].State, true
		}
	}
	if saves && !b.slow {
		b.out = b.m.Step(b.now, &policy.Event{Kind: policy.Saved}, b.out)
	}
}

// slotted returns a token of a gate with two.
func slotted(slot uint8, second int, seq wire.Seq) guardian.Token {
	t := born(second, seq)
	t.Slot = slot
	wander.SetLastSlot(&t.Load, 1)
	return t
}

// arrive carries a whole handoff to the member and returns what it notes.
func (b *booth) arrive(t guardian.Token) []policy.Note {
	b.t.Helper()
	b.offer++
	b.step(policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: handoff.KindToken, From: id(1), To: self, Exchange: b.offer, Token: t.Ref, Load: t.Load,
	}})
	for i := range b.out {
		if m := b.out[i].Msg; b.out[i].Kind == policy.Send && m.Kind == handoff.KindAck {
			b.step(policy.Event{Kind: policy.Received, Msg: handoff.Reply(&m, handoff.KindCommit, m.Nonce)})
			return b.notes()
		}
	}
	b.t.Fatalf("no Ack: %v", names(b.notes()))
	return nil
}

func (b *booth) notes() (notes []policy.Note) {
	for i := range b.out {
		if b.out[i].Kind == policy.Tell {
			notes = append(notes, b.out[i].Note)
		}
	}
	return notes
}

// nextWake is how soon it wants to be woken next.
func (b *booth) nextWake() time.Duration {
	at, _ := b.m.NextWake()
	return at.Sub(b.now.Time)
}

func (b *booth) advance(d time.Duration) {
	b.now.Time, b.now.Wall = b.now.Time.Add(d), b.now.Wall+int64(d)
}

func wantNote(t *testing.T, notes []policy.Note, want policy.Note) {
	t.Helper()
	if !slices.Contains(notes, want) {
		t.Errorf("it notes %v, not %v", names(notes), names([]policy.Note{want}))
	}
}

func TestAGateWithOneTokenIsAMachine(t *testing.T) {
	if _, ok := wander.NewGate(config(), 1).(*wander.Machine); !ok {
		t.Error("it is something else")
	}
}

func TestNobodyRunsUnderTwoTokensAtOnce(t *testing.T) {
	b := newBooth(t, 2, policy.State{})
	wantNote(t, b.arrive(slotted(0, 1, 10)), wander.NoteRan)
	wantNote(t, b.arrive(slotted(1, 2, 10)), wander.NoteResting)
	// This also holds if the run takes longer than min_interval.
	b.advance(2 * minInterval)
	b.step(policy.Event{Kind: policy.Woke})
	for i := range b.out {
		if b.out[i].Kind == policy.Run {
			t.Errorf("it runs under %+v too", b.out[i].Token)
		}
	}
	if s := b.m.Status(b.now.Time); s.Why != wander.WhyRunning || s.Token.Slot != 0 ||
		b.m.(policy.Slotted).Slots() != 2 {
		t.Errorf("its status is %+v", s)
	}
}

func TestARunCountsForMinIntervalUnderAllTokens(t *testing.T) {
	b := newBooth(t, 2, policy.State{})
	b.arrive(slotted(0, 1, 10))
	b.advance(op)
	b.step(policy.Event{Kind: policy.Finished})
	wantNote(t, b.arrive(slotted(1, 2, 10)), wander.NoteResting)
	if next := b.m.Status(b.now.Time).NextRun; next.Sub(b.now.Time) != minInterval-op {
		t.Errorf("its next run is %v away", next.Sub(b.now.Time))
	}
}

func TestTheStatusTellsTheLastRunUnderAnyToken(t *testing.T) {
	b := newBooth(t, 2, policy.State{
		HasRun: true, LastRun: 0, Memo: soft.Memo{Token: born(5, 0).ID, Slot: 1}.Bytes(), Seq: 5,
	})
	if s := b.m.Status(b.now.Time); !s.HasRun || s.LastRun != 0 {
		t.Errorf("its status is %+v", s)
	}
}

func TestTheRecordNamesTheSlotOfTheLastRun(t *testing.T) {
	b := newBooth(t, 2, policy.State{})
	b.arrive(slotted(1, 5, 10))
	if soft.MemoOf(&b.saved.Memo).Slot != 1 || soft.MemoOf(&b.saved.Memo).Token != born(5, 0).ID {
		t.Fatalf("it saves %+v", b.saved)
	}
	saved := b.saved
	saved.LastRun = saved.LastRun.Add(-op)
	// A younger token of that slot is removed after a restart; one of another slot only waits.
	b = newBooth(t, 2, saved)
	wantNote(t, b.arrive(slotted(1, 9, 30)), wander.NoteRemoved)
	wantNote(t, b.arrive(slotted(0, 9, 30)), wander.NoteResting)
	// With fewer slots than before, the run still counts, and its token removes nothing.
	b = newBooth(t, 1, saved)
	token := slotted(0, 9, 40)
	wander.SetLastSlot(&token.Load, 0)
	wantNote(t, b.arrive(token), wander.NoteResting)
}

// A run that was saved under a wrong wall clock must not stay in the record: each restart would wait for min_interval
// again.
func TestARunIsRecordedThoughTheLastOneSeemsToBeInTheFuture(t *testing.T) {
	b := newBooth(t, 2, policy.State{
		HasRun: true, LastRun: 1<<63 - 1, Memo: soft.Memo{Token: born(1, 0).ID, Slot: 1}.Bytes(), Seq: 1,
	})
	b.advance(minInterval)
	wantNote(t, b.arrive(slotted(0, 1, 10)), wander.NoteRan)
	if b.saved.LastRun != b.now.Time || soft.MemoOf(&b.saved.Memo).Token != born(1, 0).ID ||
		soft.MemoOf(&b.saved.Memo).Slot != 0 {
		t.Errorf("it saves %+v", b.saved)
	}
}

func TestAMemberWithAnotherNumberOfSlotsIsNoticedOnce(t *testing.T) {
	b := newBooth(t, 2, policy.State{})
	token := slotted(0, 1, 10)
	wander.SetLastSlot(&token.Load, 2)
	offer := func() []policy.Note {
		b.offer++
		b.step(policy.Event{Kind: policy.Received, Msg: wire.Message{
			Gate: 7, Kind: handoff.KindToken, From: id(1), To: self, Exchange: b.offer, Token: token.Ref,
			Load: token.Load,
		}})
		return b.notes()
	}
	wantNote(t, offer(), wander.NoteSlotsDiffer)
	if notes := offer(); slices.Contains(notes, wander.NoteSlotsDiffer) {
		t.Errorf("it notes %v again", names(notes))
	}
	// A slot that does not exist here is noticed, too, and refused.
	b = newBooth(t, 2, policy.State{})
	token.Slot = 2
	wantNote(t, offer(), wander.NoteSlotsDiffer)
	for i := range b.out {
		if b.out[i].Kind == policy.Send {
			t.Errorf("it answers %v", b.out[i].Msg.Kind)
		}
	}
}

func TestAMemberLeavesOnceWithAllItsTokens(t *testing.T) {
	b := newBooth(t, 3, policy.State{})
	b.step(policy.Event{Kind: policy.Leave})
	left := 0
	for _, n := range b.notes() {
		if n == wander.NoteLeft {
			left++
		}
	}
	gone := 0
	for i := range b.out {
		if b.out[i].Kind == policy.Gone {
			gone++
		}
	}
	if left != 1 || gone != 1 {
		t.Errorf("it has left %d times, and is gone %d times", left, gone)
	}
}

// lapOf returns the members that a token of a slot visits in one lap of members 1 to n, which have all run a moment
// ago.
func lapOf(walk wander.Walk, slot, slots uint8, n int) (visits []wire.MemberID) {
	var peers []wire.MemberID
	for i := range n {
		peers = append(peers, id(i+1))
	}
	token := born(1, 10)
	token.Slot = slot
	wander.SetLastSlot(&token.Load, slots-1)
	for at, first := id(1), true; ; first = false {
		cfg := config()
		cfg.Walk, cfg.Self, cfg.MinInterval = walk, at, time.Hour
		cfg.Slot, cfg.LastSlot, cfg.Entropy = slot, slots-1, rand.NewPCG(1, 2)
		m := wander.New(cfg)
		now := policy.Instant{Time: policy.Time(time.Hour), Wall: noon}
		m.Step(now, &policy.Event{Kind: policy.Started, State: policy.State{
			HasRun: true, LastRun: now.Time, Memo: soft.Memo{Token: token.ID}.Bytes(),
		}}, nil)
		m.Step(now, &policy.Event{Kind: policy.PeersChanged, Peers: peers, TokenKnown: true}, nil)
		next, passed := comeBy(m, now, at, token)
		if wander.RouteOf(&passed.Load).Lap > wander.RouteOf(&token.Load).Lap && !first {
			return visits
		}
		visits = append(visits, next)
		token, at = passed, next
	}
}

// In a sweep each token has members of its own: together, they have all members.
func TestASweepSharesTheMembersAmongItsTokens(t *testing.T) {
	const members, slots = 11, 3
	visits := map[wire.MemberID]int{}
	for slot := range uint8(slots) {
		for _, who := range lapOf(wander.Sweep, slot, slots, members) {
			visits[who]++
		}
	}
	for i := range members {
		if visits[id(i+1)] != 1 {
			t.Errorf("%v is visited %d times in a lap of all tokens", id(i+1), visits[id(i+1)])
		}
	}
}

// In a shuffle each token goes everywhere, in an order of its own. Two with the same order would soon go round
// together.
func TestAShuffleHasAnOrderForEachToken(t *testing.T) {
	const members = 11
	first, second := lapOf(wander.Shuffle, 0, 2, members), lapOf(wander.Shuffle, 1, 2, members)
	if slices.Equal(first, second) {
		t.Errorf("both go to %v", first)
	}
	for slot, visits := range [][]wire.MemberID{first, second} {
		// The member at which the lap begins is left out, or visited later.
		if len(visits) < members-1 {
			t.Errorf("the token of slot %d goes to %d members only", slot, len(visits))
		}
	}
}

// announcements counts what the last step announces.
func (b *booth) announcements() (n int) {
	for i := range b.out {
		if b.out[i].Kind == policy.Announce {
			n++
		}
	}
	return n
}

func TestAGateIsAnnouncedOnceHoweverManyTokensItHas(t *testing.T) {
	b := newBooth(t, 2, policy.State{})
	announced := 0
	for slot := range uint8(2) {
		b.arrive(slotted(slot, 1, 10))
		announced += b.announcements()
	}
	if announced != 1 {
		t.Errorf("it is announced %d times", announced)
	}
}

// There is one record for all tokens: the number of one must not hide a higher number of another.
func TestTheNumberInTheRecordNeverFalls(t *testing.T) {
	b := newBooth(t, 2, policy.State{})
	b.arrive(slotted(0, 1, 1000))
	b.advance(op)
	b.step(policy.Event{Kind: policy.Finished})
	b.advance(minInterval)
	wantNote(t, b.arrive(slotted(1, 1, 10)), wander.NoteRan)
	if soft.MemoOf(&b.saved.Memo).Slot != 1 || b.saved.Seq < 1000 {
		t.Errorf("it saves %+v", b.saved)
	}
}

// A run under a token that no longer exists, because there are fewer slots now, counts all the same.
func TestARunUnderASlotThatIsNoMoreCounts(t *testing.T) {
	now := policy.Time(time.Hour)
	b := newBooth(t, 2, policy.State{
		HasRun: true, LastRun: now, Memo: soft.Memo{Token: born(1, 0).ID, Slot: 5}.Bytes(), Seq: 10,
	})
	for slot := range uint8(2) {
		wantNote(t, b.arrive(slotted(slot, 9, 20)), wander.NoteResting)
	}
}

// One token is enough to wait until a member is due.
func TestOneTokenWaitsUntilAMemberIsDue(t *testing.T) {
	cfg := config()
	cfg.Walk = wander.Sweep
	now := policy.Time(time.Hour)
	b := boothOf(t, wander.NewGate(cfg, 2), policy.State{
		HasRun: true, LastRun: now.Add(2*skip - minInterval), Memo: soft.Memo{Token: born(1, 0).ID, Slot: 0}.Bytes(),
		Seq: 1,
	})
	for slot, waits := range []time.Duration{2 * skip, skip} {
		wantNote(t, b.arrive(slotted(uint8(slot), 1, 10)), wander.NoteResting)
		if wake := b.nextWake(); wake != waits {
			t.Errorf("the token of slot %d comes to rest, and it wants to be woken in %v, not %v", slot, wake, waits)
		}
	}
}

// comeBy lets a token come to a member and returns the member to which it is offered next, and how.
func comeBy(m *wander.Machine, now policy.Instant, at wire.MemberID, token guardian.Token) (wire.MemberID,
	guardian.Token,
) {
	offer := wire.Message{
		Gate: 7, Kind: handoff.KindToken, From: id(99), To: at, Exchange: 5, Token: token.Ref, Load: token.Load,
	}
	out := m.Step(now, &policy.Event{Kind: policy.Received, Msg: offer}, nil)
	for i := range out {
		if a := out[i].Msg; out[i].Kind == policy.Send && a.Kind == handoff.KindAck {
			m.Step(now, &policy.Event{Kind: policy.Received, Msg: handoff.Reply(&a, handoff.KindCommit, a.Nonce)}, nil)
		}
	}
	for {
		wake, _ := m.NextWake()
		now.Time = max(now.Time, wake)
		out = m.Step(now, &policy.Event{Kind: policy.Woke}, nil)
		for i := range out {
			if out[i].Kind == policy.Send && out[i].Msg.Kind == handoff.KindToken {
				return out[i].Msg.To, guardian.TokenOf(&out[i].Msg)
			}
		}
	}
}

// A gate whose settings name no number of tokens has one, like a gate whose settings name one.
func TestAGateHasOneTokenUnlessItsSettingsSayMore(t *testing.T) {
	for slots, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 3} {
		cfg := config()
		settings := *cfg.Settings
		settings.Slots = slots
		got := 1
		if s, ok := settings.Machine(cfg.Env).(policy.Slotted); ok {
			got = s.Slots()
		}
		if got != want {
			t.Errorf("with %d slots it has %d", slots, got)
		}
	}
}

// The status is that of the token in use: a running one before a resting one, a resting one before one that is
// elsewhere.
func TestTheStatusIsThatOfTheBusiestToken(t *testing.T) {
	b := newBooth(t, 3, policy.State{
		HasRun: true, LastRun: policy.Time(time.Hour), Memo: soft.Memo{Token: born(1, 0).ID}.Bytes(), Seq: 5,
	})
	for _, slot := range []uint8{1, 2} {
		token := slotted(slot, 2, 10)
		wander.SetLastSlot(&token.Load, 2)
		wantNote(t, b.arrive(token), wander.NoteResting)
	}
	if s := b.m.Status(b.now.Time); !s.Holding || s.Token.Slot != 1 {
		t.Errorf("the status is that of slot %d: %+v", s.Token.Slot, s)
	}
}

// Gossip has one bit for all tokens of a gate. In a gate with several, the first slot's may be missing although one is
// known: all others say so. In the other slots the bit means nothing.
func TestATokenThatIsKnownMayBeThatOfAnotherSlot(t *testing.T) {
	for name, tc := range map[string]struct {
		slots, slot uint8
		answer      func(s *scenario)
		want        bool
	}{
		"nobody has met it":         {2, 0, func(s *scenario) { s.all(3, 4, 5) }, true},
		"one has had it lately":     {2, 0, func(s *scenario) { s.all(3, 4); s.vouches(5, 0, 3) }, false},
		"one does not answer":       {2, 0, func(s *scenario) { s.all(3, 4) }, false},
		"most members are gone":     {2, 0, func(s *scenario) { s.all(6, 4, 5) }, false},
		"nobody answers for a slot": {2, 1, func(*scenario) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := withBackups(2)
			cfg.Slot, cfg.LastSlot = tc.slot, tc.slots-1
			s := begin(t, cfg, policy.State{})
			s.fleet(3, 4, 5)
			s.advance(3 * timeout)
			s.wantNotes(wander.NoteInquired)
			s.census()
			tc.answer(s)
			s.advance(30 * timeout)
			if made := slices.Contains(s.notes, wander.NoteCreated); made != tc.want {
				t.Errorf("it makes the token: %v", made)
			}
		})
	}
}

// If several ask whether a first token exists that may be lost, the one of the lowest identity asks for all of them.
// They may all wait for one host that is gone, and learn that in one moment.
func TestOneMemberIsSureForAllThatThereIsNoFirstToken(t *testing.T) {
	cfg := withBackups(2)
	cfg.LastSlot = 1
	s := begin(t, cfg, policy.State{})
	s.fleet(2, 3, 4, 5)
	s.advance((3 + 8) * timeout)
	s.wantNotes(wander.NoteInquired)
	question := wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(4), To: self, Exchange: 5}
	wander.SetLastSlot(&question.Load, 1)
	s.receive(question)
	if m := s.lastSent(wander.KindUnseen); guardian.TrailOf(&m.Load)[0] != self {
		t.Errorf("it does not tell a higher identity that it asks: %+v", m)
	}
	question.From = id(2)
	s.receive(question)
	s.sent = nil
	s.advance(timeout - 1)
	if len(s.sent) > 0 {
		t.Fatalf("it asks all the same: %v", s.sent)
	}
	s.advance(1)
	if asked := s.asked(); len(s.sent) != 1 || asked[id(2)] != 1 {
		t.Errorf("it asks %v first", asked)
	}
}

// Where there is one token, one that is known is that one.
func TestATokenThatIsKnownIsTheOnlyOne(t *testing.T) {
	s := begin(t, withBackups(2), policy.State{})
	s.fleet(3, 4, 5)
	s.advance(10 * timeout)
	if slices.Contains(s.notes, wander.NoteInquired) {
		t.Error("it looks for a first token")
	}
}
