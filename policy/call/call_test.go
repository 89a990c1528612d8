package call_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

func TestATokenComesWhenItIsCalled(t *testing.T) {
	f := withToken(t, 6)
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(6 * delay)
	if !slices.Equal(f.runs, []int{4}) {
		t.Fatalf("after three round trips these have run: %v", f.runs)
	}
	if n := len(f.sent); n > 13 {
		t.Errorf("a run costs %d datagrams", n)
	}
}

func TestNothingIsSentAtRest(t *testing.T) {
	f := withToken(t, 6)
	f.advance(24 * time.Hour)
	if len(f.sent) > 0 {
		t.Errorf("%d datagrams are sent at rest, the first is %+v", len(f.sent), f.sent[0])
	}
	for i, m := range f.members {
		if at, wakes := m.NextWake(); wakes {
			t.Errorf("at rest, member %d wants to be woken in %v", i, at.Sub(f.now))
		}
	}
}

func TestNothingIsSentDuringARunForWhichNobodyWaits(t *testing.T) {
	f := withToken(t, 6)
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(3 * skip)
	f.sent = nil
	f.advance(time.Hour)
	if len(f.sent) > 0 {
		t.Errorf("%d datagrams are sent", len(f.sent))
	}
}

func TestTheOldestWaiterIsNext(t *testing.T) {
	f := withToken(t, 6)
	f.step(3, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	for _, i := range []int{5, 1, 4} {
		f.step(i, policy.Event{Kind: policy.Wanted})
		f.advance(skip / 10)
	}
	for _, i := range []int{3, 5, 1, 4} {
		f.step(i, policy.Event{Kind: policy.Finished})
		f.advance(skip)
	}
	if want := []int{3, 5, 1, 4}; !slices.Equal(f.runs, want) {
		t.Errorf("they run in the order %v, want %v", f.runs, want)
	}
}

// R8: a holder that was cut off does not know that others have revived its token.
func TestARestingHolderRunsOnlyAfterAWord(t *testing.T) {
	f := withToken(t, 6)
	f.lost = func(m *wire.Message) bool { return m.From == id(2) || m.To == id(2) }
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(20 * skip)
	if len(f.runs) > 0 {
		t.Fatal("a holder that hears nobody runs")
	}
	f.lost = nil
	f.advance(20 * skip)
	if !slices.Equal(f.runs, []int{2}) {
		t.Errorf("when it is heard again, these have run: %v", f.runs)
	}
}

// R8: it "goes on asking, unless it is alone": also if all others go while it asks.
func TestAHolderThatAsksRunsOnceItIsAlone(t *testing.T) {
	f := withToken(t, 6)
	for i := range f.members {
		f.down[i] = i != 2
	}
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(20 * skip)
	if len(f.runs) > 0 {
		t.Fatal("a holder that hears nobody runs")
	}
	f.step(2, policy.Event{Kind: policy.PeersChanged, Peers: []wire.MemberID{id(2)}})
	if !slices.Equal(f.runs, []int{2}) {
		t.Errorf("these have run: %v", f.runs)
	}
}

func TestATokenWhoseHolderIsGoneIsRevivedWhenItIsCalled(t *testing.T) {
	f := withToken(t, 6)
	f.down[2] = true
	f.advance(time.Hour)
	if slices.Contains(f.notes, call.NoteRevived) {
		t.Error("it is revived although nobody waits")
	}
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(18 * skip / 10)
	if !slices.Equal(f.runs, []int{4}) {
		t.Errorf("after 1.8 skips these have run: %v", f.runs)
	}
}

func TestAHomeThatIsGoneIsReplaced(t *testing.T) {
	f := withToken(t, 6)
	home := f.home()
	if home == 2 {
		t.Fatal("the holder is the first home")
	}
	caller := f.caller()
	f.down[home] = true
	f.step(caller, policy.Event{Kind: policy.Wanted})
	f.advance(skip / 2)
	if !slices.Equal(f.runs, []int{caller}) {
		t.Errorf("after half a skip these have run: %v", f.runs)
	}
}

// R15: holder and homes are gone at once, and most members are still there.
func TestATokenThatIsSurelyLostIsMadeAgain(t *testing.T) {
	f := withToken(t, 8)
	all := []wire.MemberID{}
	guards := map[int]bool{}
	for _, fact := range f.members[2].Facts(f.now, nil) {
		if fact.Key == policy.KeyGuardian {
			guards[int(fact.Member[0])-1] = true
		}
	}
	caller := -1
	for i := range f.members {
		if f.down[i] = i == 2 || guards[i]; !f.down[i] {
			all = append(all, id(i))
			caller = i
		}
	}
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.PeersChanged, Peers: all})
	}
	f.step(caller, policy.Event{Kind: policy.Wanted})
	f.advance(5 * skip)
	if !slices.Equal(f.runs, []int{caller}) {
		t.Errorf("after five skips these have run: %v", f.runs)
	}
}

// A minority of those that were there lately makes none.
func TestAMinorityMakesNoToken(t *testing.T) {
	f := withToken(t, 8)
	few := []wire.MemberID{}
	for i, m := range f.members {
		facts := m.Facts(f.now, nil)
		if f.down[i] = i == 2 || policy.Find(facts, policy.KeyKeeps) != nil || len(few) == 3; !f.down[i] {
			few = append(few, id(i))
		}
	}
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.PeersChanged, Peers: few})
	}
	f.step(int(few[0][0])-1, policy.Event{Kind: policy.Wanted})
	f.advance(30 * skip)
	if len(f.runs) > 0 {
		t.Errorf("three of eight make a token: %v", f.runs)
	}
}

// R12: a copy of an earlier line is not accepted by a member that has heard of a later one.
func TestAStaleOfferIsRefused(t *testing.T) {
	f := withToken(t, 6)
	token := f.members[2].Status(f.now).Token
	f.down[2] = true
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(2 * skip)
	f.step(4, policy.Event{Kind: policy.Finished})
	f.sent = nil
	f.step(4, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: 1, From: id(2), To: id(4), Exchange: 99, Token: token,
	}})
	for i := range f.sent {
		if f.sent[i].Exchange == 99 {
			t.Errorf("it answers the stale offer: %+v", f.sent[i])
		}
	}
}

// R12: a copy of a later line exists; this one is stale.
func TestAHolderThatHearsOfALaterLineDropsItsToken(t *testing.T) {
	f := withToken(t, 6)
	token := f.members[2].Status(f.now).Token
	token.Seq = token.Seq.NextEpoch()
	f.step(2, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: guardian.KindAsk, From: id(4), To: id(2), Exchange: 99, Token: token,
	}})
	if f.members[2].Status(f.now).Holding {
		t.Error("it keeps the stale copy")
	}
}

// R4: a home that knows an older number knows waiters that have been served since.
func TestANextWithAnOlderNumberIsNotRead(t *testing.T) {
	f := withToken(t, 6)
	f.run(4)
	f.run(2)
	f.sent = nil
	next := wire.Message{Gate: 7, Kind: call.KindNext, From: id(4), To: id(2), Exchange: 99}
	next.Token = f.members[2].Status(f.now).Token
	next.Token.Seq--
	waiter := id(3)
	copy(next.Load[:], waiter[:4])
	next.Load[11] = 1
	f.step(2, policy.Event{Kind: policy.Received, Msg: next})
	if len(f.sent) != 1 || f.sent[0].Kind != guardian.KindHeartbeat {
		t.Errorf("it answers with %+v", f.sent)
	}
}

// R5: a home "keeps its queue while it holds the token", and when it passes the token on.
func TestAHomeKeepsItsQueueWhenItPassesTheTokenOn(t *testing.T) {
	f := withToken(t, 6)
	home := f.home()
	f.run(home)
	f.runs = nil
	f.step(home, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	want := []int{home}
	for i := range f.members {
		if i != home && len(want) < 4 {
			f.step(i, policy.Event{Kind: policy.Wanted})
			f.advance(skip / 10)
			want = append(want, i)
		}
	}
	for _, i := range want {
		f.step(i, policy.Event{Kind: policy.Finished})
		f.advance(skip / 2)
	}
	if !slices.Equal(f.runs, want) {
		t.Errorf("these have run: %v, want %v", f.runs, want)
	}
}

// R10: the holder sends heartbeats while somebody waits, also during a run.
func TestNobodySuspectsAHolderThatRunsForLong(t *testing.T) {
	f := withToken(t, 6)
	home, runner := f.home(), f.caller()
	f.step(runner, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	waiter := 0
	for waiter == home || waiter == runner || waiter == 2 {
		waiter++
	}
	f.step(waiter, policy.Event{Kind: policy.Wanted})
	f.advance(60 * skip)
	if slices.Contains(f.notes, guardian.NoteSuspected) {
		t.Error("a holder that runs is suspected")
	}
}

func TestALeavingHolderPassesTheTokenOn(t *testing.T) {
	f := withToken(t, 6)
	first := f.homes()[0]
	f.step(2, policy.Event{Kind: policy.Leave})
	f.advance(5 * skip)
	if at := f.holder(); at != first {
		t.Errorf("the token is at %d, and the first home is %d", at, first)
	}
}

func TestALateCallOfAServedWaitIsIgnored(t *testing.T) {
	f := withToken(t, 6)
	caller := f.caller()
	f.step(caller, policy.Event{Kind: policy.Wanted})
	called := f.sent[0]
	f.advance(skip)
	f.step(caller, policy.Event{Kind: policy.Finished})
	f.advance(skip)
	home := f.members[int(called.To[0])-1]
	if called.Kind != call.KindCall || home.Expects(&called) {
		t.Errorf("a home expects the call again that was served: %+v", called)
	}
}

func TestEveryNoteAndKindHasANumberAndANameOfItsOwn(t *testing.T) {
	notes, kinds := map[policy.Note]bool{}, map[wire.Kind]bool{}
	names := map[string]bool{}
	for _, n := range call.Descriptor().Notes {
		if notes[n.Note] || names[n.Name] || n.Text == "" ||
			strings.Trim(n.Name, "abcdefghijklmnopqrstuvwxyz_") != "" {
			t.Errorf("it is not the only one, or not whole: %+v", n)
		}
		notes[n.Note], names[n.Name] = true, true
	}
	for _, k := range call.Descriptor().Kinds {
		if kinds[k.Kind] || names[k.Name] {
			t.Errorf("it is not the only one: %+v", k)
		}
		kinds[k.Kind], names[k.Name] = true, true
	}
	if d := call.Descriptor(); policy.ProtocolName(d.ID) != d.Name {
		t.Errorf("number %d is %s's, and its name is %s", d.ID, policy.ProtocolName(d.ID), d.Name)
	}
}

func TestAMemberIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(call.Machine{}); size > 3944 {
		t.Errorf("a machine has %d bytes", size)
	}
}

// A home that queues, tells and forgets again and again allocates nothing.
func TestAHomeAllocatesNothing(t *testing.T) {
	f := withToken(t, 6)
	home := f.home()
	f.advance(skip)
	m, out := f.members[home], make([]policy.Effect, 0, 32)
	now := policy.Instant{Time: f.now, Wall: noon}
	ev := policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindCall, From: id((home + 1) % 6), To: id(home), Nonce: 1,
	}}
	once := func() {
		for _, nonce := range []wire.Nonce{1, 0} {
			if ev.Msg.Nonce = nonce; nonce == 1 {
				ev.Msg.Exchange++
			}
			out = m.Step(now, &ev, out[:0])
		}
	}
	ev.Msg.Exchange = 1 << 40
	once()
	if n := testing.AllocsPerRun(100, once); n > 0 {
		t.Errorf("it allocates %v times", n)
	}
}

// wellFormed messages of each of the gate's own kinds.
func whole() []wire.Message {
	token := wire.Ref{ID: wire.TokenID{Birth: 5, Generator: wire.MemberID{6}, Random: 7}, Seq: 8}
	var places, told wire.Load
	places[0], places[16] = 1, 2
	told[0], told[11] = 1, 1
	with := func(kind wire.Kind, nonce wire.Nonce, token wire.Ref, load wire.Load) wire.Message {
		return wire.Message{
			Gate: 1, Kind: kind, From: wire.MemberID{1}, To: wire.MemberID{2}, Exchange: 3, Nonce: nonce, Token: token,
			Load: load,
		}
	}
	return []wire.Message{
		with(call.KindCall, 0, wire.Ref{}, wire.Load{}), with(call.KindCall, 4, wire.Ref{}, wire.Load{}),
		with(call.KindQueued, 4, token, places), with(call.KindQueued, 4, wire.Ref{}, wire.Load{}),
		with(call.KindNext, 0, token, told), with(call.KindNext, 2, wire.Ref{}, told),
		with(call.KindWhere, 0, token, places), with(call.KindSeek, 4, wire.Ref{}, wire.Load{}),
		with(call.KindNone, 0, wire.Ref{}, wire.Load{}), with(guardian.KindHeartbeat, 1, token, wire.Load{}),
	}
}

func TestAMessageThatBreaksARuleOfItsKindIsNotWellFormed(t *testing.T) {
	wellFormed := call.Descriptor().WellFormed
	for _, m := range whole() {
		if !wellFormed(&m) {
			t.Errorf("kind %v is not well-formed: %+v", m.Kind, m)
		}
		for name, spoil := range map[string]func(*wire.Message){
			"another slot":     func(m *wire.Message) { m.Token.Slot = wire.MaxSlots },
			"a huge nonce":     func(m *wire.Message) { m.Nonce = 1 << 63 },
			"half a token":     func(m *wire.Message) { m.Token = wire.Ref{Seq: 1} },
			"bytes at the end": func(m *wire.Message) { m.Load[wire.LoadSize-1] = 1 },
			"no question":      func(m *wire.Message) { m.Exchange = 0 },
			"one place more":   func(m *wire.Message) { m.Load[2*len(wire.MemberID{})] = 1 },
		} {
			bad := m
			lists := m.Kind == call.KindNext && name == "one place more"
			if spoil(&bad); wellFormed(&bad) && m.Kind != guardian.KindHeartbeat && !lists {
				t.Errorf("kind %v is well-formed with %s", m.Kind, name)
			}
		}
	}
}

// R13: two tokens meet at the homes.
func TestAHomeThatGuardsTheOlderTokenBuriesTheYounger(t *testing.T) {
	f := withToken(t, 6)
	home, other := f.home(), f.caller()
	younger := f.members[f.holder()].Status(f.now).Token
	younger.ID.Birth++
	heartbeat := wire.Message{
		Gate: 7, Kind: guardian.KindHeartbeat, From: id(other), To: id(home), Exchange: 99, Nonce: 1, Token: younger,
	}
	guardian.SetTrail(&heartbeat.Load, &guardian.Trail{id(home)})
	f.step(home, policy.Event{Kind: policy.Received, Msg: heartbeat})
	if n := len(f.sent); n != 1 || f.sent[0].Kind != guardian.KindTombstone || f.sent[0].Token.ID != younger.ID {
		t.Errorf("it answers %+v", f.sent)
	}
}

// A member that has given the token up names the receiver, maybe before the Commit has come there: the token on its way
// is not older than another copy.
func TestAReceiverIsNotOvertakenByItsOwnToken(t *testing.T) {
	for _, kind := range []wire.Kind{call.KindQueued, call.KindWhere} {
		f := withToken(t, 6)
		caller := f.caller()
		f.lost = func(m *wire.Message) bool { return m.Kind == handoff.KindCommit }
		f.step(caller, policy.Event{Kind: policy.Wanted})
		wait := f.sent[0].Exchange
		f.advance(5 * delay)
		at := slices.IndexFunc(f.sent, func(m wire.Message) bool { return m.Kind == handoff.KindCommit })
		if at < 0 {
			t.Fatalf("the token does not come: %+v", f.sent)
		}
		commit := f.sent[at]
		word := wire.Message{Gate: 7, Kind: kind, From: commit.From, To: id(caller), Exchange: wait}
		word.Token = f.members[2].Status(f.now).Token
		word.Token.Seq = commit.Token.Seq.After()
		to := id(caller)
		if copy(word.Load[:], to[:]); kind == call.KindQueued {
			word.Nonce = 1
		}
		f.step(caller, policy.Event{Kind: policy.Received, Msg: word})
		f.step(caller, policy.Event{Kind: policy.Received, Msg: commit})
		if !f.members[caller].Status(f.now).Holding {
			t.Errorf("kind %v: the token is dropped", kind)
		}
	}
}

// reports is a home that tells the holder of a waiter, and its exchange. No such message arrives.
func reports(t *testing.T) (f *fleet, home int, told wire.Message) {
	f = withToken(t, 6)
	home = f.home()
	waiter := f.caller()
	f.lost = func(m *wire.Message) bool { return m.Kind == call.KindNext }
	f.step(waiter, policy.Event{Kind: policy.Wanted})
	f.advance(2 * delay)
	at := slices.IndexFunc(f.sent, func(m wire.Message) bool { return m.Kind == call.KindNext })
	if at < 0 || f.sent[at].From != id(home) {
		t.Fatalf("home %d does not tell the holder: %+v", home, f.sent)
	}
	return f, home, f.sent[at]
}

// R4: "a receiver ignores a Known that names itself".
func TestAHomeDoesNotBelieveThatItHoldsTheToken(t *testing.T) {
	f, home, told := reports(t)
	where := wire.Message{Gate: 7, Kind: call.KindWhere, From: told.To, To: told.From, Exchange: told.Exchange}
	where.Token = told.Token
	where.Token.Seq = told.Token.Seq.After()
	copy(where.Load[:], told.From[:])
	f.step(home, policy.Event{Kind: policy.Received, Msg: where})
	if s := f.members[home].Status(f.now); s.Holder != told.To {
		t.Errorf("it takes %v for the holder, not %v", s.Holder, told.To)
	}
}

// R4: "for the same visit and waiter not again within P/2".
func TestAHolderIsNotToldAgainAtOnce(t *testing.T) {
	f, home, told := reports(t)
	began := f.now.Add(-delay)
	f.advance(4 * skip / 10)
	heartbeat := wire.Message{
		Gate: 7, Kind: guardian.KindHeartbeat, From: told.To, To: told.From, Exchange: 99, Nonce: 1 << 40,
		Token: told.Token,
	}
	guardian.SetTrail(&heartbeat.Load, &guardian.Trail{id(home)})
	f.step(home, policy.Event{Kind: policy.Received, Msg: heartbeat})
	f.sent = nil
	tells := func(m wire.Message) bool { return m.Kind == call.KindNext }
	for f.now < began.Add(skip/2-delay) {
		if f.advance(delay); slices.ContainsFunc(f.sent, tells) {
			t.Fatalf("it is told again after %v", f.now.Sub(began))
		}
	}
	if f.advance(2 * delay); !slices.ContainsFunc(f.sent, tells) {
		t.Error("it is not told again after P/2")
	}
}
