package call_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/wire"
)

// R11: of two members that are wrong, one names the other to a home that looks for the token, and the other one knows
// nothing. If the home asked all again at once, the two would keep it busy for as long as they are wrong.
func TestAHomeThatIsMisledAsksAllMoreAndMoreRarely(t *testing.T) {
	f := withToken(t, 6)
	home := f.home()
	caller, wrong, named := (home+1)%6, (home+2)%6, (home+3)%6
	f.sent = nil
	for i := range f.members {
		f.down[i] = i != home
	}
	asked := 0
	f.lost = func(m *wire.Message) bool {
		answer := wire.Message{Gate: 7, Kind: call.KindWhere, From: m.To, To: m.From, Exchange: m.Exchange}
		switch {
		case m.Kind == call.KindSeek && m.To == id(wrong):
			asked++
			answer.Token = wire.Ref{ID: wire.TokenID{Birth: 5, Generator: id(wrong), Random: 7}, Seq: 8}
			who := id(named)
			copy(answer.Load[:], who[:])
		case m.Kind == call.KindNext && m.To == id(named):
		default:
			return true
		}
		f.coming = append(f.coming, coming{f.now.Add(delay), answer})
		return true
	}
	f.restart(home)
	f.step(home, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindCall, From: id(caller), To: id(home), Exchange: 99, Nonce: 1,
	}})
	f.advance(16 * skip)
	if asked < 3 || asked > 8 {
		t.Errorf("in 16 patiences it asks %d times", asked)
	}
}

// It asks all again after a patience at the earliest, and after twice as long each time.
func TestAHomeThatFindsNoTokenAsksAgainAfterGrowingPauses(t *testing.T) {
	f := withToken(t, 6)
	home := f.home()
	caller, denies := (home+1)%6, (home+2)%6
	for i := range f.members {
		f.down[i] = i != home
	}
	var began []policy.Time
	search := wire.Exchange(0)
	f.lost = func(m *wire.Message) bool {
		if m.Kind != call.KindSeek {
			return true
		}
		if m.Exchange != search {
			search, began = m.Exchange, append(began, f.now)
		}
		answer := wire.Message{Gate: 7, Kind: call.KindNone, From: m.To, To: m.From, Exchange: m.Exchange}
		if m.To == id(denies) {
			answer.Kind = call.KindWhere // It had the token lately.
		}
		f.coming = append(f.coming, coming{f.now.Add(delay), answer})
		return true
	}
	f.restart(home)
	f.step(home, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindCall, From: id(caller), To: id(home), Exchange: 99, Nonce: 1,
	}})
	f.advance(8 * skip)
	for i := 1; i < min(len(began), 3); i++ {
		if pause := began[i].Sub(began[i-1]); pause < skip<<(i-1) {
			t.Errorf("search %d begins %v after the last one", i+1, pause)
		}
	}
	if len(began) < 3 {
		t.Errorf("it has asked at %v", began)
	}
}

// R2: "A member that becomes wanted, and has no token", calls. When holder and homes are lost, the next first home may
// have passed the token to that very member, and have heard nothing since.
func TestAHomeDoesNotTakeACallerForTheHolder(t *testing.T) {
	const members = 8
	for caller := range members {
		f := newFleet(t, members)
		for i := range f.members {
			if i != caller {
				f.run(i)
				f.run(caller) // All have passed the token to the caller.
			}
		}
		f.run((caller + 1) % members) // The last holder is another member.
		var dead []int
		for _, fact := range f.members[caller].Facts(f.now, nil) {
			if fact.Key == policy.KeyHome {
				dead = append(dead, int(fact.Member[0])-1)
			}
		}
		dead = append(dead, f.holder())
		if slices.Contains(dead, caller) {
			continue
		}
		var left []wire.MemberID
		for i := range f.members {
			if f.down[i] = slices.Contains(dead, i); !f.down[i] {
				left = append(left, id(i))
			}
		}
		for i := range f.members {
			f.step(i, policy.Event{Kind: policy.PeersChanged, Peers: left})
		}
		f.runs = nil
		f.step(caller, policy.Event{Kind: policy.Wanted})
		f.advance(8 * skip)
		if !slices.Contains(f.runs, caller) {
			t.Errorf("members %v are lost, and %d does not run: %v", dead, caller, f.members[caller])
		}
	}
}

// R2: of more than 64 members a caller calls eight at random, and the homes again: the latter may not have heard it, or
// may not have known yet that they are homes.
func TestACallerCallsTheHomesAgainInALargeFleet(t *testing.T) {
	const members = 250
	f := newFleet(t, members)
	f.run(2)
	homes := []int{2}
	for _, fact := range f.members[2].Facts(f.now, nil) {
		if fact.Key == policy.KeyHome {
			homes = append(homes, int(fact.Member[0])-1)
		}
	}
	caller := 0
	for slices.Contains(homes, caller) {
		caller++
	}
	until := f.now.Add(3 * skip / 2)
	f.lost = func(m *wire.Message) bool {
		return m.Kind == call.KindCall && f.now < until && slices.Contains(homes, int(m.To[0])-1)
	}
	f.step(caller, policy.Event{Kind: policy.Wanted})
	f.advance(3 * skip)
	if !slices.Contains(f.runs[1:], caller) {
		t.Errorf("member %d is not served: %v", caller, f.members[caller])
	}
}

// R11, R15: in a large fleet the answers of a distant member come when the members of its batch are not asked any more.
// They count all the same: otherwise no loss would be certain before max_interval.
func TestALateAnswerCountsAfterItsBatch(t *testing.T) {
	const members = 250
	f := newFleet(t, members)
	f.run(2)
	left := f.killHomes()
	distant := left[5]
	f.lost = func(m *wire.Message) bool {
		if m.From != distant || m.Kind != call.KindNone {
			return false
		}
		f.coming = append(f.coming, coming{f.now.Add(3 * skip / 4), *m})
		return true
	}
	f.runs = nil
	caller := int(left[len(left)-1][0]) - 1
	f.step(caller, policy.Event{Kind: policy.Wanted})
	f.advance(20 * skip)
	if !slices.Contains(f.runs, caller) {
		t.Errorf("holder and homes are lost, and nobody runs: %v", f.members[caller])
	}
}

// R11: a member that had the token lately does not deny it, and then the home makes none: the token may be under way.
func TestAHomeMakesNoTokenWhileAMemberDoesNotDenyThatThereIsOne(t *testing.T) {
	f := newFleet(t, 8)
	f.run(2)
	left := f.killHomes()
	f.runs = nil
	until := f.now.Add(6 * skip)
	f.lost = func(m *wire.Message) bool {
		if f.now > until || m.Kind != call.KindNone || m.From != left[1] {
			return false
		}
		lately := *m
		lately.Kind = call.KindWhere
		f.coming = append(f.coming, coming{f.now.Add(delay), lately})
		return true
	}
	caller := int(left[len(left)-1][0]) - 1
	f.step(caller, policy.Event{Kind: policy.Wanted})
	f.advance(6 * skip)
	if len(f.runs) > 0 {
		t.Errorf("a token is made, and %v run", f.runs)
	}
	f.advance(20 * skip)
	if !slices.Contains(f.runs, caller) {
		t.Errorf("nobody has the token any more, and no token is made: %v", f.members[caller])
	}
}

// R11: an answer to an earlier search says nothing of now. Until a member answers this one, there may be a token.
func TestAnAnswerToAnEarlierSearchDoesNotCount(t *testing.T) {
	f := newFleet(t, 8)
	f.run(2)
	left := f.killHomes()
	f.runs = nil
	f.lost = func(m *wire.Message) bool {
		if m.Kind == call.KindNone && m.From == left[1] {
			m.Exchange++
		}
		return false
	}
	caller := int(left[len(left)-1][0]) - 1
	f.step(caller, policy.Event{Kind: policy.Wanted})
	f.advance(6 * skip)
	if len(f.runs) > 0 {
		t.Errorf("a token is made, and %v run", f.runs)
	}
	f.lost = nil
	f.advance(20 * skip)
	if !slices.Contains(f.runs, caller) {
		t.Errorf("all have answered, and no token is made: %v", f.members[caller])
	}
}

// R11: "When its view changes it asks all again, half a patience after it began to ask at the earliest." A fleet starts
// after a power cut, and the view of its first home grows with each host. It does not ask all of them each time.
func TestTheHomeOfAFleetThatStartsDoesNotAskAllAgainForEachMember(t *testing.T) {
	const members = 30
	f := newFleet(t, members)
	var all []wire.MemberID
	for i := range members {
		all = append(all, id(i))
	}
	f.lost = func(*wire.Message) bool { return true }
	asking := 0
	for i := range members {
		f.members[i] = f.newMember(i)
		f.step(i, policy.Event{Kind: policy.Started})
		f.step(i, policy.Event{Kind: policy.Wanted})
		f.sent = nil
		seeks := func() (n int) {
			for _, m := range f.sent {
				if m.Kind == call.KindSeek && m.From == id(i) {
					n++
				}
			}
			return n
		}
		view := []wire.MemberID{id(i)}
		for _, other := range all {
			if other == id(i) {
				continue
			}
			view = append(view, other)
			f.step(i, policy.Event{Kind: policy.PeersChanged, Peers: slices.SortedFunc(slices.Values(view), compare)})
			f.advance(delay)
		}
		if n := seeks(); n > members {
			t.Errorf("member %d asks %d times while %d come", i, n, members-1)
		}
		f.sent = nil
		f.advance(skip)
		if seeks() >= members-1 {
			asking++
		}
	}
	if asking == 0 {
		t.Error("no home asks all at last")
	}
}

func compare(a, b wire.MemberID) int { return bytes.Compare(a[:], b[:]) }

// R11: a home that looks for the token asks each member three times, if it does not answer.
func TestAHomeAsksASilentMemberThreeTimes(t *testing.T) {
	f := withToken(t, 5)
	home := f.home()
	caller, silent := (home+1)%5, (home+3)%5
	f.sent = nil
	for i := range f.members {
		f.down[i] = i != home
	}
	f.lost = func(*wire.Message) bool { return true }
	f.restart(home)
	f.step(home, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindCall, From: id(caller), To: id(home), Exchange: 99, Nonce: 1,
	}})
	f.advance(4 * skip)
	asked := map[wire.Exchange]int{}
	for i := range f.sent {
		if m := &f.sent[i]; m.Kind == call.KindSeek && m.To == id(silent) {
			asked[m.Exchange]++
		}
	}
	times := slices.Sorted(maps.Values(asked))
	if len(times) == 0 || times[len(times)-1] != 3 {
		t.Errorf("it asks %v times", times)
	}
}

// R11: "A home that has waiters and knows no holder asks all members": once nobody waits there, it asks nobody more.
func TestAHomeThatHasNoWaitersLooksForNoHolder(t *testing.T) {
	f := withToken(t, 5)
	home := f.home()
	caller := (home + 1) % 5
	for i := range f.members {
		f.down[i] = i != home
	}
	f.lost = func(*wire.Message) bool { return true }
	f.restart(home)
	called := wire.Message{Gate: 7, Kind: call.KindCall, From: id(caller), To: id(home), Exchange: 99, Nonce: 1}
	f.step(home, policy.Event{Kind: policy.Received, Msg: called})
	f.advance(skip / 8)
	f.sent = nil
	called.Nonce = 0
	f.step(home, policy.Event{Kind: policy.Received, Msg: called})
	f.advance(20 * skip)
	for i := range f.sent {
		if m := &f.sent[i]; m.Kind == call.KindSeek {
			t.Fatalf("nobody waits, and it asks %v", m.To)
		}
	}
}

// killHomes kills the holder and all homes. All others notice, and it returns them.
func (f *fleet) killHomes() (left []wire.MemberID) {
	dead := []int{f.holder()}
	for _, fact := range f.members[2].Facts(f.now, nil) {
		if fact.Key == policy.KeyHome {
			dead = append(dead, int(fact.Member[0])-1)
		}
	}
	for i := range f.members {
		if f.down[i] = slices.Contains(dead, i); !f.down[i] {
			left = append(left, id(i))
		}
	}
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.PeersChanged, Peers: left})
	}
	return left
}
