package peers

import (
	"crypto/ed25519"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

var gateA, gateB = wire.GateIDOf("a"), wire.GateIDOf("b")

// newTestPeers is the peer table of member 1 of gate a.
func newTestPeers(l *peertest.Logs) *Table {
	me, err := NewSelf("host1", peertest.KeyOf(1), []wire.GateID{gateA})
	if err != nil {
		panic(err)
	}
	me.Addr = peertest.AddrOf(1)
	cfg := &Config{
		Key: peertest.PrivateOf(1), Gates: []wire.GateID{gateA}, Judge: trustAll, Log: zerolog.New(l),
	}
	return New(cfg, me, time.Minute)
}

func sightingOf(i int, gone bool) Sighting {
	return Sighting{Member: Member{
		ID: wire.MemberIDOf(peertest.KeyOf(i)), Name: fmt.Sprintf("host%d", i),
		Key: peertest.KeyOf(i), Addr: peertest.AddrOf(i),
	}, Gone: gone}
}

func mailOf(sightings ...Sighting) Reports {
	m := Reports{Seen: make(map[string]Sighting)}
	for _, s := range sightings {
		m.Seen[identity.NodeName(s.Name, s.ID)] = s
	}
	return m
}

func TestViewIsPublishedOnlyWhenItSaysSomethingNew(t *testing.T) {
	r := newTestPeers(&peertest.Logs{})
	now := time.Unix(1e9, 0)
	if first := <-r.Views; len(first.Members) != 1 || first.Members[0].Name != "host1" {
		t.Errorf("the first view is %+v", first)
	}
	r.Apply(mailOf(sightingOf(2, false)), now)
	r.Apply(mailOf(sightingOf(3, false)), now)
	if v := <-r.Views; len(v.Members) != 3 {
		t.Errorf("the reader got %+v, not the newest", v)
	}
	r.Apply(mailOf(sightingOf(3, false)), now)
	r.Apply(mailOf(), now)
	select {
	case v := <-r.Views:
		t.Errorf("the reader got %+v again", v)
	default:
	}
}

func TestViewFindsEveryMemberAndNobodyElse(t *testing.T) {
	r := newTestPeers(&peertest.Logs{})
	var sightings []Sighting
	for i := 2; i <= 50; i++ {
		sightings = append(sightings, sightingOf(i, false))
	}
	r.Apply(mailOf(sightings...), time.Unix(1e9, 0))
	v := <-r.Views
	for i := 1; i <= 50; i++ {
		id := wire.MemberIDOf(peertest.KeyOf(i))
		if m, ok := v.Lookup(id); !ok || m.ID != id {
			t.Errorf("member %d is not found", i)
		}
	}
	if _, ok := v.Lookup(wire.MemberIDOf(peertest.KeyOf(51))); ok {
		t.Error("an unknown member is found")
	}
	id := wire.MemberIDOf(peertest.KeyOf(7))
	if n := testing.AllocsPerRun(100, func() { v.Lookup(id); v.Peers(gateA) }); n > 0 {
		t.Errorf("%v allocations for a look-up", n)
	}
}

func TestManyChangesAreLoggedInOneLine(t *testing.T) {
	l := &peertest.Logs{}
	r := newTestPeers(l)
	var joins []Sighting
	for i := 2; i <= 2+summaryFrom; i++ {
		joins = append(joins, sightingOf(i, false))
	}
	r.Apply(mailOf(joins...), time.Unix(1e9, 0))
	if lines := l.With("info"); len(lines) != 1 || len(l.With("info", `"joined":9`, `"members":10`)) != 1 {
		t.Errorf("told %s", lines)
	}
}

func TestPeersForgetTheOldestOfTooManyThatAreGone(t *testing.T) {
	r := newTestPeers(&peertest.Logs{})
	now := time.Unix(1e9, 0)
	for i := 2; i < 2+maxGone+10; i++ {
		now = now.Add(time.Second)
		r.Apply(mailOf(sightingOf(i, false)), now)
		r.Apply(mailOf(sightingOf(i, true)), now)
	}
	if n := len(r.Remembered()); n != maxGone {
		t.Errorf("%d are remembered", n)
	}
	for _, m := range r.All(now) {
		if m.ID == wire.MemberIDOf(peertest.KeyOf(2)) {
			t.Error("the oldest is not forgotten")
		}
	}
}

func TestMemberThatLeftIsForgottenAfterAWhile(t *testing.T) {
	r := newTestPeers(&peertest.Logs{})
	now := time.Unix(1e9, 0)
	left := sightingOf(2, true)
	left.leaving = true
	r.Apply(mailOf(sightingOf(2, false)), now)
	r.Apply(mailOf(left), now)
	r.Apply(mailOf(sightingOf(3, false)), now)
	now = now.Add(keepLeft)
	if addrs, _ := r.due(now); len(r.All(now)) != 3 || len(addrs) != 0 {
		t.Errorf("known: %+v, to be tried again: %v", r.All(now), addrs)
	}
	if now = now.Add(time.Second); len(r.All(now)) != 2 || len(r.Remembered()) != 2 {
		t.Errorf("listed after an hour: %+v, remembered: %+v", r.All(now), r.Remembered())
	}
	if r.Apply(mailOf(), now.Add(forgetAfter)); len(r.Remembered()) != 1 {
		t.Errorf("remembered after a week: %+v", r.Remembered())
	}
}

func TestAddressThatALiveMemberHasIsNotLost(t *testing.T) {
	r := newTestPeers(&peertest.Logs{})
	now := time.Unix(1e9, 0)
	heir := sightingOf(3, false) // the same host with a new key
	heir.Addr = peertest.AddrOf(2)
	r.Apply(mailOf(sightingOf(2, false), sightingOf(4, false)), now)
	r.Apply(mailOf(sightingOf(2, true), sightingOf(4, true), heir), now)
	if lost, _ := r.due(now.Add(2 * healFirst)); len(lost) != 1 || lost[0] != peertest.AddrOf(4) {
		t.Errorf("lost: %v", lost)
	}
}

// A failed member is tried within seconds, then at growing intervals, and after a week no longer.
func TestAFailedMemberIsTriedAtGrowingIntervals(t *testing.T) {
	r := newTestPeers(&peertest.Logs{})
	begin := time.Unix(1e9, 0)
	r.Apply(mailOf(sightingOf(2, false), sightingOf(3, false)), begin)
	r.Apply(mailOf(sightingOf(2, true)), begin)
	var tries []time.Duration
	for now := begin; now.Sub(begin) < 10*time.Minute; now = now.Add(time.Second) {
		addrs, _ := r.due(now)
		for _, addr := range addrs {
			tries = append(tries, now.Sub(begin))
			r.tried(addr, now)
		}
	}
	if len(tries) < 15 || len(tries) > 50 || tries[0] > 2*healFirst || tries[2] > 8*healFirst {
		t.Errorf("looked for after %v", tries)
	}
	for i := 5; i < len(tries); i++ {
		if pause := tries[i] - tries[i-1]; pause < HealMax/2 || pause > 2*HealMax {
			t.Errorf("looked for after %v", tries)
		}
	}
	if addrs, _ := r.due(begin.Add(forgetAfter + time.Second)); len(addrs) > 0 || len(r.Remembered()) != 1 {
		t.Errorf("after a week: %v, %v", addrs, r.Remembered())
	}
}

// Remembered members are tried at once, live ones first. The list omits this member, those that are gone for long, and
// invalid entries.
func TestRememberedMembersAreTriedAtOnce(t *testing.T) {
	r := newTestPeers(&peertest.Logs{})
	now := time.Unix(1e9, 0)
	known := func(i int) Remembered {
		s := sightingOf(i, false)
		return Remembered{ID: s.ID, Name: s.Name, Addr: s.Addr}
	}
	left, failed, ancient, itself, nameless := known(2), known(3), known(4), known(1), known(5)
	left.Left, left.Gone = true, now.Add(-time.Hour)
	failed.Gone = now.Add(-time.Hour)
	ancient.Gone = now.Add(-forgetAfter - time.Second)
	nameless.Name = ""
	r.Recall([]Remembered{left, failed, ancient, itself, nameless, known(6)}, now)
	var asked []netip.AddrPort
	for range 4 {
		addrs, next := r.due(now)
		asked = append(asked, addrs...)
		now = next
	}
	if want := []netip.AddrPort{peertest.AddrOf(6), peertest.AddrOf(3), peertest.AddrOf(2)}; !slices.Equal(asked,
		want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

// A member that has failed is missed in its gates also after a restart; one that was live then may have left.
func TestAFailedMemberIsMissedInItsGatesAfterARestart(t *testing.T) {
	r, now := newTestPeers(&peertest.Logs{}), time.Unix(1e9, 0)
	live, failed := sightingOf(2, false), sightingOf(3, false)
	live.Gates = []gateMark{{tag: tagOf(gateA)}}
	failed.Gates = live.Gates
	r.Apply(mailOf(live, failed), now)
	failed.Gone = true
	r.Apply(mailOf(failed), now)
	next := newTestPeers(&peertest.Logs{})
	next.Recall(r.Remembered(), now)
	for _, m := range next.All(now) {
		if m.ID != next.Self && (m.State != StateFailed || m.Has(gateA) != (m.ID == failed.ID) || m.Has(gateB)) {
			t.Errorf("%+v", m)
		}
	}
	for tags, want := range map[string]int{"": 0, "000a7fff": 2, "000": 0, "zz00": 0, strings.Repeat("00", 31): 0} {
		if n := len(marksOf(tags)); n != want {
			t.Errorf("%q has %d gates", tags, n)
		}
	}
}

func TestSuspicionEndsByItself(t *testing.T) {
	r := newTestPeers(&peertest.Logs{})
	now := time.Unix(1e9, 0)
	s := sightingOf(2, false)
	r.Apply(mailOf(s), now)
	r.Apply(Reports{Suspects: map[string]bool{identity.NodeName(s.Name, s.ID): true}}, now)
	for after, want := range map[time.Duration]State{time.Second: StateSuspect, 2 * time.Minute: StateAlive} {
		for _, m := range r.All(now.Add(after)) {
			if m.ID == s.ID && m.State != want {
				t.Errorf("after %v it is %v, want %v", after, m.State, want)
			}
		}
	}
}

func TestAMemberThatComesAndGoesAllTheTimeFillsNoLog(t *testing.T) {
	l := &peertest.Logs{}
	logLimiter, now := newLogLimiter(zerolog.New(l)), time.Unix(1, 0)
	const minutes = 10
	for i := range minutes * 60 * 20 {
		what := []string{"a member failed", "a member came back"}[i%2]
		logLimiter.note([]change{{Member{Name: "flapping"}, what}}, 4, now)
		now = now.Add(time.Second / 20)
	}
	if n := len(l.With("info")); n > logMost+minutes+1 {
		t.Errorf("%d lines in %d minutes", n, minutes)
	}
	if len(l.With("info", "the membership changed", `"failed":600`, `"came_back":600`)) == 0 {
		t.Errorf("nothing says how often: %s", l.With("info"))
	}
	// When it is over, the changes that were held back are reported, and later changes have lines of their own again.
	before := len(l.With("info"))
	logLimiter.note(nil, 4, now.Add(logPeriod))
	logLimiter.note(nil, 4, now.Add(2*logPeriod))
	logLimiter.note([]change{{Member{Name: "late"}, "a member joined"}}, 4, now.Add(3*logPeriod))
	if n := len(l.With("info")); n != before+2 || len(l.With("info", "late")) != 1 {
		t.Errorf("afterwards: %s", l.With("info")[before:])
	}
}

func trustAll(string, wire.MemberID, ed25519.PublicKey, []byte) error { return nil }
