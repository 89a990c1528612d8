package membership

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"net/netip"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/membership/streams"
	"github.com/wanderd/wanderd/wire"
)

// rogue is a bare memberlist that has the fleet's gossip key.
type rogue struct {
	*memberlist.Memberlist
	meta []byte
}

func (r *rogue) NodeMeta(int) []byte             { return r.meta }
func (r *rogue) NotifyMsg([]byte)                {}
func (r *rogue) GetBroadcasts(int, int) [][]byte { return nil }
func (r *rogue) LocalState(bool) []byte          { return nil }
func (r *rogue) MergeRemoteState([]byte, bool)   {}

// startRogue starts it as host 7 and makes it join host 1.
func (f *fleet) startRogue(name string, meta []byte, change func(*memberlist.Config)) *rogue {
	f.t.Helper()
	end := f.net.Endpoint(peertest.AddrOf(7))
	seal := streams.NewSeal(peertest.SecretsOf(secretOne))
	tr := newGossipTransport(&Config{
		Send: gossipWriter{end.Packets}.WriteGossip, Streams: end.Streams, Log: zerolog.Nop(),
	}, introducerOf(7), end.Addr, seal, admission.New(nil), nil)
	r := &rogue{meta: meta}
	mc := pace(false)
	mc.Name, mc.Transport, mc.Delegate = name, tr, r
	mc.Logger = log.New(&peertest.Logs{}, "", 0)
	change(mc)
	var err error
	if r.Memberlist, err = memberlist.Create(mc); err != nil {
		f.t.Fatal(err)
	}
	go (&host{end: end, Membership: &Membership{transport: tr}}).read()
	f.t.Cleanup(func() { _, _ = r.Shutdown(), end.Close() })
	_, _ = r.Join([]string{peertest.AddrOf(1).String()}) // it fails for some, which does no harm
	return r
}

func TestNodeThatIsNoMemberIsIgnoredWithOneWarning(t *testing.T) {
	id := wire.MemberIDOf(peertest.KeyOf(7))
	node := identity.NodeName("x", id)
	honest := (&peers.Metadata{Key: peertest.KeyOf(7)}).Encode(peertest.PrivateOf(7), node, peertest.AddrOf(7))
	impostor := (&peers.Metadata{Key: peertest.KeyOf(8)}).Encode(peertest.PrivateOf(8), node, peertest.AddrOf(7))
	forged := (&peers.Metadata{Key: peertest.KeyOf(7)}).Encode(peertest.PrivateOf(8), node, peertest.AddrOf(7))
	elsewhere := (&peers.Metadata{Key: peertest.KeyOf(7)}).Encode(peertest.PrivateOf(7), node, peertest.AddrOf(8))
	another := (&peers.Metadata{Key: peertest.KeyOf(7)}).
		Encode(peertest.PrivateOf(7), identity.NodeName("y", id), peertest.AddrOf(7))
	for name, c := range map[string]struct {
		node   string
		meta   []byte
		change func(*memberlist.Config)
		reason string
	}{
		"a foreign cluster": {node: "consul-server-1", meta: []byte("garbage"), reason: "it is not a wanderd"},
		"garbage": {
			node: identity.NodeName("x", id), meta: bytes.Repeat([]byte{0xff}, 500), reason: "metadata of version",
		},
		"no metadata": {node: identity.NodeName("x", id), reason: "no metadata"},
		"somebody else's identity": {
			node: identity.NodeName("x", id), meta: impostor, reason: "its key does not belong to its identity",
		},
		"no signature of the key":    {node: node, meta: forged, reason: "did not sign"},
		"signed for another address": {node: node, meta: elsewhere, reason: "did not sign"},
		"signed for another name":    {node: node, meta: another, reason: "did not sign"},
		"another version": {
			node: identity.NodeName("x", id), meta: honest,
			change: func(c *memberlist.Config) { c.DelegateProtocolMax = 9 },
			reason: "another version of gossip",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, f *fleet) {
				hosts := f.startAll(2)
				f.within(5*time.Second, "host1 and host2 see each other", allSee(hosts, 1, 2))
				if c.change == nil {
					c.change = func(*memberlist.Config) {}
				}
				f.startRogue(c.node, c.meta, c.change)
				f.always(time.Minute, "nobody else is seen", allSee(hosts, 1, 2))
				hosts = append(hosts, f.start(3))
				f.within(5*time.Second, "a member can still join", allSee(hosts, 1, 2, 3))
				if lines := hosts[0].logs.With("warn", "ignoring a node", "10.0.0.7", c.reason); len(lines) != 1 {
					t.Errorf("warned %d times: %s", len(lines), hosts[0].logs.With("warn"))
				}
				if hosts[0].Stats().Refused == 0 {
					t.Error("nothing was counted")
				}
			})
		})
	}
}

// announced is host 7 as memberlist shows it to the mailbox.
func announced(meta peers.Metadata, addr netip.AddrPort) *memberlist.Node {
	name := identity.NodeName("x", wire.MemberIDOf(meta.Key))
	return &memberlist.Node{
		Name: name, Addr: addr.Addr().AsSlice(), Port: addr.Port(),
		Meta: meta.Encode(peertest.PrivateOf(7), name, addr),
		PMin: 1, PMax: 5, PCur: 2,
	}
}

func TestOfTwoAnnouncementsOfOneMemberTheHigherCounterWins(t *testing.T) {
	b := newMailbox("me", wire.MemberID{1}, false, admission.New(nil))
	old := announced(peers.Metadata{Key: peertest.KeyOf(7), Counter: 7, Leaving: true}, peertest.AddrOf(1))
	for _, n := range []*memberlist.Node{
		old, announced(peers.Metadata{Key: peertest.KeyOf(7), Counter: 8}, peertest.AddrOf(2)),
	} {
		if err := b.NotifyAlive(n); err != nil {
			t.Error(err)
		}
	}
	if err := b.NotifyAlive(old); !errors.Is(err, errStale) || b.refusals > 0 {
		t.Errorf("the older one: %v, %d refusals", err, b.refusals)
	}
}

func TestNodeWithAnUnusableAddressIsRefused(t *testing.T) {
	b := newMailbox("me", wire.MemberID{1}, false, admission.New(nil))
	meta := peers.Metadata{Key: peertest.KeyOf(7)}
	for _, addr := range [][]byte{nil, {1, 2, 3}, {0, 0, 0, 0}, {224, 0, 0, 1}, {127, 0, 0, 1}} {
		n := announced(meta, peertest.AddrOf(1))
		n.Addr = addr
		if b.NotifyAlive(n) == nil {
			t.Errorf("%v was accepted", addr)
		}
		n.Addr = []byte{10, 0, 0, 1}
		if err := b.NotifyAlive(n); err != nil {
			t.Errorf("%v was refused: %v", n.Addr, err)
		}
		if n.Port = 0; b.NotifyAlive(n) == nil {
			t.Error("port 0 was accepted")
		}
	}
}

func TestMailboxIsBoundedHoweverManyNodesComeAndGo(t *testing.T) {
	b := newMailbox("me", wire.MemberID{1}, false, admission.New(nil))
	meta := []byte("garbage")
	for i := range admission.MaxChecked + 10 {
		n := &memberlist.Node{
			Name: fmt.Sprint("consul-", i), Addr: []byte{10, 0, 0, 1}, Port: 1, Meta: meta,
			PMin: 1, PMax: 5, PCur: 2,
		}
		if b.NotifyAlive(n) == nil {
			t.Fatal("it was accepted")
		}
	}
	if len(b.checked) > admission.MaxChecked || len(b.Refused) > refusedMax || b.refusals != admission.MaxChecked+10 {
		t.Errorf("%d checks and %d refusals are kept, %d were counted", len(b.checked), len(b.Refused), b.refusals)
	}
}

func TestCheckedAnnouncementIsNotCheckedAgain(t *testing.T) {
	b := newMailbox("me", wire.MemberID{1}, false, admission.New(nil))
	n := announced(peers.Metadata{Key: peertest.KeyOf(7)}, peertest.AddrOf(1))
	if allocs := testing.AllocsPerRun(100, func() {
		if err := b.NotifyAlive(n); err != nil {
			t.Fatal(err)
		}
	}); allocs > 0 {
		t.Errorf("%v allocations for each member at each full sync", allocs)
	}
}
