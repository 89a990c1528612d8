package membership

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// paused is an order to gate a of host i.
func paused(i int, stamp uint64) Notice {
	return Notice{
		Gate: gateA, Order: wire.Order{Stamp: stamp, By: wire.MemberIDOf(keyOf(i)), Until: wire.ForEver},
		Who: fmt.Sprintf("alice@host%d", i), Reason: "ticket 4711",
	}
}

// signedBy is a notice as host i sends it.
func signedBy(i int, n Notice) *signedNotice {
	s := &signedNotice{Notice: n, name: fmt.Sprintf("host%d", i), key: keyOf(i)}
	s.sign(privateOf(i))
	return s
}

func TestANoticeRoundTrips(t *testing.T) {
	for name, n := range map[string]Notice{
		"with all texts": paused(1, 7),
		"with none":      {Gate: gateA, Order: paused(1, 7).Order},
		"the longest":    {Gate: gateA, Order: paused(1, 7).Order, Who: strings.Repeat("w", MaxWho), Reason: strings.Repeat("r", MaxReason)},
	} {
		want := signedBy(1, n)
		got, err := parseNotice(want.packed)
		if err != nil || got.Notice != n || got.name != "host1" || !got.vouched() || !got.own() {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if len(want.packed) > maxNotice {
			t.Errorf("%s has %d bytes", name, len(want.packed))
		}
	}
}

func TestADamagedNoticeIsNotKept(t *testing.T) {
	good := signedBy(1, paused(1, 7)).packed
	for at := range good {
		bad := slices.Clone(good)
		bad[at] ^= 1
		if n, err := parseNotice(bad); err == nil && n.vouched() {
			t.Errorf("with byte %d changed it is vouched for", at)
		}
		if _, err := parseNotice(good[:at]); err == nil {
			if n, _ := parseNotice(good[:at]); n.vouched() {
				t.Errorf("the first %d bytes are vouched for", at)
			}
		}
	}
}

func TestTheNewerNoticeIsKeptAndTheGiversOwn(t *testing.T) {
	k := newNotices([]wire.GateID{gateA}, newAdmission(nil), func() int { return 1 })
	kept := func() Notice { return k.all()[0] }
	witness := Notice{Gate: gateA, Order: paused(1, 7).Order}
	for _, step := range []struct {
		what string
		hear *signedNotice
		want Notice
	}{
		{"the first", signedBy(2, witness), witness},
		{"the giver's own", signedBy(1, paused(1, 7)), paused(1, 7)},
		{"a witness's, again", signedBy(3, witness), paused(1, 7)},
		{"an older one", signedBy(2, paused(2, 6)), paused(1, 7)},
		{"a newer one", signedBy(2, paused(2, 8)), paused(2, 8)},
		{"of another gate", signedBy(2, Notice{Gate: gateB, Order: paused(2, 9).Order}), paused(2, 8)},
	} {
		if k.hear(step.hear.packed); kept() != step.want || len(k.all()) != 1 {
			t.Errorf("%s: %+v, want %+v", step.what, kept(), step.want)
		}
	}
}

func TestTextsThatCannotBeShownAreRefused(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		h := f.start(1)
		for _, n := range []Notice{
			{Gate: gateA, Who: strings.Repeat("w", MaxWho+1)}, {Gate: gateA, Reason: strings.Repeat("r", MaxReason+1)}, {Gate: gateA, Reason: "a\x1b[31m"},
		} {
			n.Order = paused(1, 7).Order
			if err := h.Notify(n); err == nil || len(h.Notices()) > 0 {
				t.Errorf("%q, %q: %v", n.Who, n.Reason, err)
			}
		}
	})
}

func TestAnOrderReachesAllMembersWithinTwoSecondsAndThoseThatComeLater(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(10)
		other := f.start(11, func(c *Config) { c.Gates = []wire.GateID{gateB} })
		time.Sleep(30 * time.Second)
		n := paused(4, uint64(time.Now().UnixMilli()))
		if err := hosts[3].Notify(n); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		for i, h := range append(hosts, f.start(12)) {
			if i == len(hosts) {
				time.Sleep(2 * time.Second)
			}
			if list := h.Notices(); len(list) != 1 || list[0] != n {
				t.Errorf("host %d knows %+v", i+1, list)
			}
			select {
			case <-h.News():
			default:
				t.Errorf("host %d is not told", i+1)
			}
		}
		if list := other.Notices(); len(list) > 0 {
			t.Errorf("a host without the gate keeps %+v", list)
		}
	})
}
