package membership

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// issued is a certificate of an authority in tests.
func issued(by string, i int, until time.Time, padding ...byte) []byte {
	return append(fmt.Appendf(nil, "%s %s host%d %d", by, wire.MemberIDOf(peertest.KeyOf(i)), i, until.Unix()), padding...)
}

// office trusts the certificates of authorities, as a host's file of known hosts does.
type office struct {
	mu                   sync.Mutex
	authorities, revoked []string
	// slow is how much its clock is behind.
	slow time.Duration
	// good counts the certificates that it has found good.
	good atomic.Int64
}

// Check implements Trust.
func (o *office) Check(name string, key ed25519.PublicKey, certificate []byte) (until time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if slices.Contains(o.revoked, name) {
		return until, errors.New("revoked")
	}
	if certificate == nil {
		return until, ErrNoCertificate
	}
	var by, id, owner string
	var end int64
	if _, err := fmt.Sscan(strings.TrimRight(string(certificate), "="), &by, &id, &owner, &end); err != nil {
		return until, err
	}
	until = time.Unix(end, 0).Add(o.slow)
	switch {
	case !slices.Contains(o.authorities, by):
		return until, errors.New("no authority")
	case owner != name || id != wire.MemberIDOf(key).String():
		return until, errors.New("of somebody else")
	case !time.Now().Before(until):
		return until, errors.New("expired")
	}
	o.good.Add(1)
	return until, nil
}

func (o *office) set(change func(*office)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(o)
}

// startCertified starts hosts first to last, which trust by an office each and show what certificate returns.
func (f *fleet) startCertified(first, last int, certificate func(int) []byte) (hosts []*host, offices []*office) {
	for i := first; i <= last; i++ {
		o := &office{authorities: []string{"ca"}}
		hosts = append(hosts, f.start(i, func(c *Config) {
			c.Trust, c.Certificate = o, func() []byte { return certificate(i) }
		}))
		offices = append(offices, o)
	}
	return hosts, offices
}

// farFuture is when the certificates of most tests expire.
var farFuture = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

func (h *host) has(i int) bool {
	_, is := h.view().Lookup(wire.MemberIDOf(peertest.KeyOf(i)))
	return is
}

// gossiped is when all have heard of a newcomer. Gossip misses one of them now and then, which hears of it in a full
// sync: in one of the newcomer's first, or in one of its own.
const gossiped = 30 * time.Second

func lasting(i int) []byte { return issued("ca", i, farFuture) }

// reconsider does what agents do every second.
func reconsider(hosts []*host) {
	for _, h := range hosts {
		h.Reconsider(false)
	}
}

// counting counts the connections that a host accepts.
type counting struct {
	Streams
	n *atomic.Int64
}

func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Streams.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

func TestCertificatesComeInBulk(t *testing.T) {
	const size = 40
	inFleet(t, func(t *testing.T, f *fleet) {
		var connections atomic.Int64
		f.wrap = func(s Streams) Streams { return counting{s, &connections} }
		hosts, offices := f.startCertified(1, size, lasting)
		f.within(10*time.Second, "everybody sees everybody", allSee(hosts, upTo(size)...))
		if n := connections.Load(); n > 12*size {
			t.Errorf("%d connections of %d hosts that started at once", n, size)
		}
		t.Logf("%d connections of %d hosts that started at once", connections.Load(), size)
		time.Sleep(time.Minute) // until those that have joined have settled
		connections.Store(0)
		more, _ := f.startCertified(size+1, size+1, lasting)
		hosts = append(hosts, more...)
		time.Sleep(5 * time.Second)
		t.Logf("%d connections for one that came later", connections.Load())
		if n := connections.Load(); n > 2*size {
			t.Errorf("%d connections for one that came later", n)
		}
		f.within(gossiped, "everybody sees a new one", allSee(hosts, upTo(size+1)...))
		time.Sleep(time.Minute)
		for i, o := range offices {
			if n := o.good.Load(); n > 3*size {
				t.Errorf("host%d has checked %d certificates", i+1, n)
			}
		}
	})
}

// It is said once.
func TestWhatWasSaidOfAnUnverifiedMemberIsHeardOnceItsCertificateIsHere(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		hosts, _ := f.startCertified(1, 2, lasting)
		f.within(5*time.Second, "both see each other", allSee(hosts, 1, 2))
		id, node := wire.MemberIDOf(peertest.KeyOf(3)), identity.NodeName("host3", wire.MemberIDOf(peertest.KeyOf(3)))
		meta := peers.Metadata{Key: peertest.KeyOf(3), Counter: 1}
		said := packets.Alive{
			Node: []byte(node), Addr: []byte{10, 0, 0, 3}, Port: peers.DefaultPort, Vsn: []byte{1, 5, 2, 0, 0, 0}, Incarnation: 1,
			Meta: meta.Encode(peertest.PrivateOf(3), node, peertest.AddrOf(3)),
		}
		hosts[1].transport.admission.vouch("host3", id, peertest.KeyOf(3), lasting(3), true)
		hosts[0].transport.unverified.hear(hosts[0].transport.admission, hosts[1].peers.Self, &said, time.Now())
		f.within(time.Second, "it is heard", func() bool { return hosts[0].has(3) })
	})
}

// Certificates may be long, and an answer has no room for all of them.
func TestAnAnswerIsBounded(t *testing.T) {
	padding := bytes.Repeat([]byte("="), maxCertificate-100)
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts, _ := f.startCertified(1, 2, lasting)
		f.within(5*time.Second, "both see each other", allSee(hosts, 1, 2))
		wanted := make(map[wire.MemberID]unverifiedMember)
		for i := 100; i < 100+80; i++ {
			id, name := wire.MemberIDOf(peertest.KeyOf(i)), fmt.Sprintf("host%d", i)
			hosts[0].transport.admission.vouch(name, id, peertest.KeyOf(i), issued("ca", i, farFuture, padding...), true)
			wanted[id] = unverifiedMember{id: id, name: name}
		}
		var got []int
		for len(wanted) > 0 && len(got) < 5 {
			good, err := hosts[1].transport.askCertificates(peertest.AddrOf(1), wanted, time.Now().Add(meetTime))
			if err != nil {
				t.Fatal(err)
			}
			maps.DeleteFunc(wanted, func(id wire.MemberID, m unverifiedMember) bool { return hosts[1].transport.admission.knows(m.name, id) })
			got = append(got, good)
		}
		if len(got) != 2 || got[0] != 64 || got[1] != 16 {
			t.Errorf("the answers had %v certificates", got)
		}
	})
}

// A member that shows what it should not, or nothing, gains nothing: each checks for itself.
func TestWhoShowsCertificatesIsNotBelieved(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		end := time.Now().Add(2 * time.Minute)
		hosts, offices := f.startCertified(1, 5, func(i int) []byte {
			if i == 4 {
				return issued("ca", i, end)
			}
			return lasting(i)
		})
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3, 4, 5))
		// The first believes an authority that the others do not know, and its clock is an hour behind.
		offices[0].set(func(o *office) { o.authorities, o.slow = append(o.authorities, "other"), time.Hour })
		hosts[0].Reconsider(true)
		unverified, _ := f.startCertified(6, 6, func(i int) []byte { return issued("other", i, farFuture) })
		time.Sleep(time.Until(end))
		wary := []*host{hosts[1], hosts[2], hosts[4]}
		f.always(2*time.Minute, "who is not trusted is out", func() bool { // the first passes on whom the fourth accuses
			reconsider(hosts)
			time.Sleep(gatherFor)
			return !slices.ContainsFunc(wary, func(h *host) bool { return h.has(4) || h.has(6) })
		})
		f.within(time.Minute, "the others are in", allSee(wary, 1, 2, 3, 5))
		if !hosts[0].sees(1, 2, 3, 4, 5, 6) || unverified[0].sees(1, 2, 3, 4, 5) {
			t.Error("the first trusts them, and nobody else")
		}
	})
}

func TestARevokedMemberIsOutThoughItsCertificateIsPassedOn(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts, offices := f.startCertified(1, 6, lasting)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3, 4, 5, 6))
		for i, o := range offices[:4] { // the fifth does not have the line yet
			o.set(func(o *office) { o.revoked = []string{"host6"} })
			hosts[i].Reconsider(true)
		}
		informed := hosts[:4]
		without := func() bool { // the fifth hears it accuse others
			reconsider(hosts)
			return !slices.ContainsFunc(informed, func(h *host) bool { return h.has(6) })
		}
		f.within(100*time.Millisecond, "it is out", without)
		later, o := f.startCertified(7, 7, lasting)
		o[0].set(func(o *office) { o.revoked = []string{"host6"} })
		informed = append(later, informed...)
		f.always(3*time.Minute, "it stays out", without)
		if !hosts[4].has(6) || !hosts[4].has(7) || !later[0].has(5) {
			t.Error("they are not in one fleet")
		}
	})
}

func TestARenewedCertificateReplacesTheExpiredOne(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		end := time.Now().Add(time.Minute)
		var renewed atomic.Bool
		hosts, _ := f.startCertified(1, 8, func(i int) []byte {
			if i == 8 && !renewed.Load() {
				return issued("ca", i, end)
			}
			return lasting(i)
		})
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, upTo(8)...))
		time.Sleep(time.Until(end))
		f.within(2*time.Second, "it is out", func() bool {
			reconsider(hosts)
			return allSee(hosts[:7], upTo(7)...)()
		})
		later, _ := f.startCertified(9, 9, lasting)
		without := func() bool {
			reconsider(hosts)
			time.Sleep(gatherFor)
			return allSee(hosts[:7], 1, 2, 3, 4, 5, 6, 7, 9)() && later[0].sees(1, 2, 3, 4, 5, 6, 7, 9)
		}
		f.within(gossiped, "a new one is in", without)
		f.always(time.Minute, "nobody takes the expired one", without)
		renewed.Store(true)
		hosts = append(hosts, later...)
		f.within(time.Minute, "it is back", func() bool {
			reconsider(hosts)
			return allSee(hosts, upTo(9)...)()
		})
		// Now the expired certificate, shown by a member that still has it, replaces none.
		a := hosts[0].transport.admission
		if a.vouch("host8", wire.MemberIDOf(peertest.KeyOf(8)), peertest.KeyOf(8), issued("ca", 8, time.Now().Add(time.Hour)), false); !bytes.Equal(a.members[wire.MemberIDOf(peertest.KeyOf(8))].certificate, lasting(8)) {
			t.Error("what another member has shown replaces what the owner has")
		}
	})
}

// A member whose certificate the others do not have, because they know its key, is asked itself.
func TestTheOwnerIsAskedIfNobodyElseHasItsCertificate(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		listed := &book{known: []int{1, 2, 3}}
		hosts := []*host{}
		for i := 1; i <= 3; i++ {
			hosts = append(hosts, f.start(i, func(c *Config) { c.Trust = listed }))
		}
		f.within(5*time.Second, "three see each other", allSee(hosts, 1, 2, 3))
		listed.set(func(b *book) { b.known = append(b.known, 4) })
		four := f.start(4, func(c *Config) {
			c.Trust, c.Certificate = &book{known: []int{1}, certified: []int{2, 3}}, func() []byte { return certificateOf(4) }
		})
		f.within(5*time.Second, "the three see it", allSee(hosts, 1, 2, 3, 4))
		f.within(5*time.Second, "it sees whom it trusts", func() bool { return four.sees(1, 4) })
	})
}

// A host with the secret and without a trusted key is told nothing, and its word counts for nothing.
func TestAnUnverifiedHostIsShownNoCertificates(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts, _ := f.startCertified(1, 2, lasting)
		f.within(5*time.Second, "both see each other", allSee(hosts, 1, 2))
		outsider, _ := f.startCertified(66, 66, func(i int) []byte { return issued("nobody", i, farFuture) })
		wanted := map[wire.MemberID]unverifiedMember{wire.MemberIDOf(peertest.KeyOf(2)): {id: wire.MemberIDOf(peertest.KeyOf(2)), name: "host2"}}
		before := hosts[0].Stats().Untrusted
		if good, err := outsider[0].transport.askCertificates(peertest.AddrOf(1), wanted, time.Now().Add(time.Second)); err == nil || good != 0 {
			t.Errorf("an outsider gets %d certificates, %v", good, err)
		}
		if hosts[0].Stats().Untrusted == before {
			t.Error("not counted")
		}
		if good, err := hosts[1].transport.askCertificates(peertest.AddrOf(66), wanted, time.Now().Add(time.Second)); err == nil || good != 0 {
			t.Errorf("the answer of an outsider has %d certificates, %v", good, err)
		}
		if good, err := hosts[1].transport.askCertificates(peertest.AddrOf(1), nil, time.Now().Add(time.Second)); err != nil || good != 0 {
			t.Errorf("a member: %d, %v", good, err)
		}
	})
}

func TestUnverifiedMembersAreBounded(t *testing.T) {
	s, a := newUnverified(wire.MemberID{}), newAdmission(&office{})
	now := time.Now()
	say := func(from wire.MemberID, i int) {
		meta := peers.Metadata{Key: peertest.KeyOf(i), Counter: 1}
		node := identity.NodeName(fmt.Sprintf("host%d", i), wire.MemberIDOf(peertest.KeyOf(i)))
		s.hear(a, from, &packets.Alive{
			Node: []byte(node), Addr: []byte{10, 0, 0, 1}, Port: 7946, Meta: meta.Encode(peertest.PrivateOf(i), node, peertest.AddrOf(i)), Vsn: make([]byte, 6),
		}, now)
	}
	byzantine, honest := wire.MemberID{1}, wire.MemberID{2}
	say(honest, 1)
	for i := range maxUnverified + 100 {
		say(byzantine, 2+i)
	}
	if _, there := s.list[wire.MemberIDOf(peertest.KeyOf(1))]; !there || len(s.list) != maxUnverified {
		t.Errorf("%d unverified members are kept, that of an honest member: %v", len(s.list), there)
	}
	turns := map[wire.MemberID]int{}
	for range 1000 {
		from, wanted := s.wanted()
		if len(wanted) != maxUnverified {
			t.Fatalf("%d are wanted", len(wanted))
		}
		turns[from]++
	}
	if turns[honest] < 300 || turns[byzantine] < 300 {
		t.Errorf("turns: %v", turns)
	}
	_, wanted := s.wanted()
	s.asked(wanted, byzantine, true, false)
	if _, wanted = s.wanted(); len(wanted) != 1 {
		t.Errorf("of %d others are still asked", len(wanted))
	}
	if n := len(s.owners(meetAtOnce, now)); n != meetAtOnce {
		t.Errorf("%d owners", n)
	}
	for range meetTries {
		s.asked(wanted, honest, false, false)
	}
	if _, wanted = s.wanted(); len(wanted) != 0 {
		t.Error("others are asked for ever")
	}
	for _, later := range []time.Duration{0, meetAgain} {
		now = now.Add(later)
		s.owners(maxUnverified, now)
		say(honest, 1)
		if _, wanted = s.wanted(); (len(wanted) == 1) != (later > 0) {
			t.Errorf("after %v %d are asked for again", later, len(wanted))
		}
	}
	if _, ok := s.leave("host1", wire.MemberIDOf(peertest.KeyOf(1)), now.Add(meetAgain)); ok {
		t.Error("what was said long ago is heard")
	}
}

func TestWhatIsSaidOfAMemberIsWrittenAsItWasRead(t *testing.T) {
	said := packets.Alive{Node: []byte("host1~x"), Addr: []byte{10, 0, 0, 1}, Port: 7946, Meta: bytes.Repeat([]byte{7}, 255), Vsn: []byte{1, 5, 2, 0, 0, 0}, Incarnation: 1 << 40}
	message := said.Message()
	if _, err := packets.Filter(message, false); err == nil {
		t.Error("the incarnation is absurd")
	}
	said.Incarnation = 70_000
	var heard []packets.Alive
	keep := func(a *packets.Alive) { heard = append(heard, a.Clone()) }
	message = said.Message()
	dead := peertest.Pack(packets.DeadMsg, "Incarnation", 1, "Node", "host2~x", "From", "host1~x")
	for _, packet := range [][]byte{message, peertest.Compound(message), peertest.Compound(dead, message), append([]byte{packets.HasCrcMsg, 1, 2, 3, 4}, peertest.Compound(message, dead)...)} {
		if _, err := packets.Filter(packet, false); err != nil {
			t.Error(err)
		}
		packets.EachInPacket(packet, keep)
	}
	node := func(state int) []byte {
		return peertest.Pack(0, "Name", "host1~x", "Addr", said.Addr, "Port", 7946, "Meta", said.Meta, "Incarnation", 70_000, "State", state, "Vsn", said.Vsn)[1:]
	}
	sync := slices.Concat(peertest.Pack(packets.PushPullMsg, "Nodes", 3, "UserStateLen", 1, "Join", 0), node(0), node(2), node(0), []byte{0})
	if err := packets.FilterStream(sync); err != nil {
		t.Error(err)
	}
	packets.EachInSync(sync, keep)
	if len(heard) != 6 {
		t.Errorf("heard %d times", len(heard))
	}
	for i := range heard {
		if !bytes.Equal(heard[i].Message(), message) {
			t.Errorf("heard %+v", heard[i])
		}
	}
	if at, err := heard[0].At(); err != nil || at != netip.MustParseAddrPort("10.0.0.1:7946") {
		t.Errorf("at %v, %v", at, err)
	}
}

// FuzzCertificates: what is read has one writing, and nothing that another member shows is believed.
func FuzzCertificates(f *testing.F) {
	one, two := shown{"host1", peertest.KeyOf(1), lasting(1)}, shown{"host2", peertest.KeyOf(2), issued("other", 2, farFuture)}
	f.Add(two.append(one.append(nil)))
	f.Add(one.append(nil)[:40])
	f.Add(appendWanted(nil, []wire.MemberID{{1}, {2}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if ids, err := parseWanted(b); err == nil && !bytes.Equal(appendWanted(nil, ids), b) {
			t.Errorf("%x is read as %v", b, ids)
		}
		list, err := parseShown(b)
		if err != nil {
			return
		}
		a := newAdmission(&office{authorities: []string{"ca"}})
		var again []byte
		for _, c := range list {
			again = c.append(again)
			if a.vouch(c.name, wire.MemberIDOf(c.key), c.key, c.certificate, true) && !bytes.HasPrefix(c.certificate, []byte("ca "+wire.MemberIDOf(c.key).String()+" "+c.name)) {
				t.Errorf("%+v is believed", c)
			}
		}
		if !bytes.Equal(again, b) {
			t.Errorf("%x is written again as %x", b, again)
		}
		if len(a.members) > len(list) {
			t.Errorf("%d members", len(a.members))
		}
	})
}
