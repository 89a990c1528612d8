package broadcast

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

func TestADirectiveAboutAMemberRoundTrips(t *testing.T) {
	for name, n := range map[string]Broadcast{
		"forgotten": forgets(3, 7, wire.ForEver), "back": forgets(3, 8, 0),
		"the longest": {
			Member: wire.MemberID{1}, Name: strings.Repeat("n", identity.MaxName), Directive: paused(1, 7).Directive,
			Who: strings.Repeat("w", MaxWho), Reason: strings.Repeat("r", MaxReason),
		},
	} {
		want := signedBy(1, n)
		got, err := Parse(want.packed)
		if err != nil || got.Broadcast != n || got.name != "host1" || !got.vouched() || len(want.packed) > maxSize {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		for at := range want.packed {
			bad := slices.Clone(want.packed)
			bad[at] ^= 1
			if n, err := Parse(bad); err == nil && n.vouched() {
				t.Errorf("%s: with byte %d changed it is vouched for", name, at)
			}
			if n, err := Parse(want.packed[:at]); err == nil && n.vouched() {
				t.Errorf("%s: the first %d bytes are vouched for", name, at)
			}
		}
	}
}

// forgets returns a directive of host 1 about host i.
func forgets(i int, stamp uint64, until int64) Broadcast {
	return Broadcast{
		Member: wire.MemberIDOf(peertest.KeyOf(i)), Name: fmt.Sprintf("host%d", i), Who: "alice@host1",
		Directive: wire.Directive{Stamp: stamp, By: wire.MemberIDOf(peertest.KeyOf(1)), Until: until},
	}
}

// "Only the newest directive about a member counts": what is older, or of the far future, changes nothing. Members
// learn of each other's directives in a full sync, whatever gates they have.
func TestTheNewestDirectiveAboutAMemberCounts(t *testing.T) {
	k := NewStore(nil, trustAll, func() int { return 1 }, make(chan struct{}, 1))
	host3 := wire.MemberIDOf(peertest.KeyOf(3))
	future := wire.LatestStamp(time.Now().UnixNano()) + 1000
	for _, step := range []struct {
		what string
		hear Broadcast
		want bool
	}{
		{"another member", forgets(4, 9, wire.ForEver), false},
		{"forgotten", forgets(3, 7, wire.ForEver), true},
		{"an older one", forgets(3, 6, 0), true},
		{"of the future", forgets(3, future, 0), true},
		{"back", forgets(3, 8, 0), false},
		{"forgotten before that", forgets(3, 7, wire.ForEver), false},
	} {
		if k.Hear(signedBy(1, step.hear).packed); k.IsForgotten(host3) != step.want {
			t.Errorf("%s: %+v", step.what, k.Members())
		}
	}
	other := NewStore([]wire.GateID{gateA}, trustAll, func() int { return 1 }, make(chan struct{}, 1))
	other.HearState(k.AppendState(nil))
	if got := other.Members(); !slices.Equal(got, k.Members()) || len(got) != 2 || len(other.All()) != 0 {
		t.Errorf("%+v, want %+v", got, k.Members())
	}
	other.SetGates([]wire.GateID{gateB})
	if len(other.Members()) != 2 {
		t.Error("a change of gates loses it")
	}
}

// Of too many, the oldest are dropped, in whatever order they come.
func TestTheNumberOfForgottenMembersIsBounded(t *testing.T) {
	const all = MaxForgotten + 10
	for name, stamp := range map[string]func(int) uint64{
		"oldest first": func(i int) uint64 { return uint64(i + 1) },
		"newest first": func(i int) uint64 { return uint64(all - i) },
	} {
		k := NewStore(nil, trustAll, func() int { return 1 }, make(chan struct{}, 1))
		for i := range all {
			n := Broadcast{Member: wire.MemberID{1, byte(i)}, Name: "n", Directive: paused(1, stamp(i)).Directive}
			k.Hear(signedBy(1, n).packed)
		}
		if got := k.Members(); len(got) != MaxForgotten || got[0].Directive.Stamp != all-MaxForgotten+1 ||
			k.queue.NumQueued() > identity.MaxGates+MaxErrands+MaxForgotten {
			t.Errorf("%s: %d, from %d; %d are queued", name, len(got), got[0].Directive.Stamp, k.queue.NumQueued())
		}
	}
}
