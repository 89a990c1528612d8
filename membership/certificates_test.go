package membership

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// startCertified starts hosts first to last, which trust by an office each and show what certificate returns.
func (f *fleet) startCertified(first, last int, certificate func(int) []byte) (hosts []*host,
	offices []*peertest.Office,
) {
	for i := first; i <= last; i++ {
		o := &peertest.Office{Authorities: []string{"ca"}}
		hosts = append(hosts, f.start(i, func(c *Config) {
			c.Trust, c.Certificate = o, func() []byte { return certificate(i) }
		}))
		offices = append(offices, o)
	}
	return hosts, offices
}

func (h *host) has(i int) bool {
	_, is := h.view().Lookup(wire.MemberIDOf(peertest.KeyOf(i)))
	return is
}

// gossiped is the time after which all have heard of a newcomer. Gossip sometimes misses a member, which then hears of
// the newcomer in a full sync: in one of the newcomer's first, or in one of its own.
const gossiped = 30 * time.Second

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
		hosts, offices := f.startCertified(1, size, peertest.Lasting)
		f.within(10*time.Second, "everybody sees everybody", allSee(hosts, upTo(size)...))
		if n := connections.Load(); n > 12*size {
			t.Errorf("%d connections of %d hosts that started at once", n, size)
		}
		t.Logf("%d connections of %d hosts that started at once", connections.Load(), size)
		time.Sleep(time.Minute) // until those that have joined have settled
		connections.Store(0)
		more, _ := f.startCertified(size+1, size+1, peertest.Lasting)
		hosts = append(hosts, more...)
		time.Sleep(5 * time.Second)
		t.Logf("%d connections for one that came later", connections.Load())
		if n := connections.Load(); n > 2*size {
			t.Errorf("%d connections for one that came later", n)
		}
		f.within(gossiped, "everybody sees a new one", allSee(hosts, upTo(size+1)...))
		time.Sleep(time.Minute)
		for i, o := range offices {
			if n := o.Good.Load(); n > 3*size {
				t.Errorf("host%d has checked %d certificates", i+1, n)
			}
		}
	})
}

// The log reports it once.
func TestNewsOfAMemberIsKeptUntilItsCertificateArrives(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		hosts, _ := f.startCertified(1, 2, peertest.Lasting)
		f.within(5*time.Second, "both see each other", allSee(hosts, 1, 2))
		id, node := wire.MemberIDOf(peertest.KeyOf(3)), identity.NodeName("host3", wire.MemberIDOf(peertest.KeyOf(3)))
		meta := peers.Metadata{Key: peertest.KeyOf(3), Counter: 1}
		said := packets.Alive{
			Node: []byte(node), Addr: []byte{10, 0, 0, 3}, Port: peers.DefaultPort, Vsn: []byte{1, 5, 2, 0, 0, 0},
			Incarnation: 1,
			Meta:        meta.Encode(peertest.PrivateOf(3), node, peertest.AddrOf(3)),
		}
		hosts[1].transport.admission.Vouch("host3", id, peertest.KeyOf(3), peertest.Lasting(3), true)
		hosts[0].transport.unverified.Hear(hosts[0].transport.admission, hosts[1].peers.Self, &said, time.Now())
		f.within(time.Second, "it is heard", func() bool { return hosts[0].has(3) })
	})
}

// Certificates may be long, and an answer has no room for all of them.
func TestAnAnswerIsBounded(t *testing.T) {
	padding := bytes.Repeat([]byte("="), admission.MaxCertificate-100)
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts, _ := f.startCertified(1, 2, peertest.Lasting)
		f.within(5*time.Second, "both see each other", allSee(hosts, 1, 2))
		wanted := make(map[wire.MemberID]admission.UnverifiedMember)
		for i := 100; i < 100+80; i++ {
			id, name := wire.MemberIDOf(peertest.KeyOf(i)), fmt.Sprintf("host%d", i)
			hosts[0].transport.admission.Vouch(name, id, peertest.KeyOf(i),
				peertest.Issued("ca", i, peertest.FarFuture(), padding...), true)
			wanted[id] = admission.UnverifiedMember{ID: id, Name: name}
		}
		var got []int
		for len(wanted) > 0 && len(got) < 5 {
			good, err := hosts[1].transport.askCertificates(peertest.AddrOf(1), wanted, time.Now().Add(meetTime))
			if err != nil {
				t.Fatal(err)
			}
			maps.DeleteFunc(wanted, func(id wire.MemberID, m admission.UnverifiedMember) bool {
				return hosts[1].transport.admission.Knows(m.Name, id)
			})
			got = append(got, good)
		}
		if len(got) != 2 || got[0] != 64 || got[1] != 16 {
			t.Errorf("the answers had %v certificates", got)
		}
	})
}

// A member that shows what it should not, or nothing, gains nothing, because each member checks for itself.
func TestEachMemberChecksCertificatesForItself(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		end := time.Now().Add(2 * time.Minute)
		hosts, offices := f.startCertified(1, 5, func(i int) []byte {
			if i == 4 {
				return peertest.Issued("ca", i, end)
			}
			return peertest.Lasting(i)
		})
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3, 4, 5))
		// The first believes an authority that the others do not know, and its clock is an hour behind.
		offices[0].Set(func(o *peertest.Office) { o.Authorities, o.Slow = append(o.Authorities, "other"), time.Hour })
		hosts[0].Reconsider(true)
		unverified, _ := f.startCertified(6, 6, func(i int) []byte {
			return peertest.Issued("other", i, peertest.FarFuture())
		})
		time.Sleep(time.Until(end))
		wary := []*host{hosts[1], hosts[2], hosts[4]}
		// the first passes on a member that the fourth accuses
		f.always(2*time.Minute, "who is not trusted is out", func() bool {
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
		hosts, offices := f.startCertified(1, 6, peertest.Lasting)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3, 4, 5, 6))
		for i, o := range offices[:4] { // the fifth does not have the line yet
			o.Set(func(o *peertest.Office) { o.Revoked = []string{"host6"} })
			hosts[i].Reconsider(true)
		}
		informed := hosts[:4]
		without := func() bool { // the fifth hears it accuse others
			reconsider(hosts)
			return !slices.ContainsFunc(informed, func(h *host) bool { return h.has(6) })
		}
		f.within(100*time.Millisecond, "it is out", without)
		later, o := f.startCertified(7, 7, peertest.Lasting)
		o[0].Set(func(o *peertest.Office) { o.Revoked = []string{"host6"} })
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
				return peertest.Issued("ca", i, end)
			}
			return peertest.Lasting(i)
		})
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, upTo(8)...))
		time.Sleep(time.Until(end))
		f.within(2*time.Second, "it is out", func() bool {
			reconsider(hosts)
			return allSee(hosts[:7], upTo(7)...)()
		})
		later, _ := f.startCertified(9, 9, peertest.Lasting)
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
		id := wire.MemberIDOf(peertest.KeyOf(8))
		a.Vouch("host8", id, peertest.KeyOf(8), peertest.Issued("ca", 8, time.Now().Add(time.Hour)), false)
		if list := a.Certificates([]wire.MemberID{id}, time.Now(), 0); len(list) != 1 ||
			!bytes.Equal(list[0].Certificate, peertest.Lasting(8)) {
			t.Error("what another member has shown replaces what the owner has")
		}
	})
}

// A member whose certificate the others do not have, because they know its key, is asked itself.
func TestTheOwnerIsAskedIfNobodyElseHasItsCertificate(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		listed := &peertest.Book{Known: []int{1, 2, 3}}
		hosts := []*host{}
		for i := 1; i <= 3; i++ {
			hosts = append(hosts, f.start(i, func(c *Config) { c.Trust = listed }))
		}
		f.within(5*time.Second, "three see each other", allSee(hosts, 1, 2, 3))
		listed.Set(func(b *peertest.Book) { b.Known = append(b.Known, 4) })
		four := f.start(4, func(c *Config) {
			c.Trust, c.Certificate = &peertest.Book{Known: []int{1}, Certified: []int{2, 3}}, func() []byte {
				return peertest.CertificateOf(4)
			}
		})
		f.within(5*time.Second, "the three see it", allSee(hosts, 1, 2, 3, 4))
		f.within(5*time.Second, "it sees whom it trusts", func() bool { return four.sees(1, 4) })
	})
}

// A host with the secret but without a trusted key is told nothing, and its statements count for nothing.
func TestAnUnverifiedHostIsShownNoCertificates(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts, _ := f.startCertified(1, 2, peertest.Lasting)
		f.within(5*time.Second, "both see each other", allSee(hosts, 1, 2))
		outsider, _ := f.startCertified(66, 66, func(i int) []byte {
			return peertest.Issued("nobody", i, peertest.FarFuture())
		})
		wanted := map[wire.MemberID]admission.UnverifiedMember{
			wire.MemberIDOf(peertest.KeyOf(2)): {ID: wire.MemberIDOf(peertest.KeyOf(2)), Name: "host2"},
		}
		before := hosts[0].Stats().Untrusted
		if good, err := outsider[0].transport.askCertificates(peertest.AddrOf(1), wanted, time.Now().
			Add(time.Second)); err == nil || good != 0 {
			t.Errorf("an outsider gets %d certificates, %v", good, err)
		}
		if hosts[0].Stats().Untrusted == before {
			t.Error("not counted")
		}
		if good, err := hosts[1].transport.askCertificates(peertest.AddrOf(66), wanted, time.Now().
			Add(time.Second)); err == nil || good != 0 {
			t.Errorf("the answer of an outsider has %d certificates, %v", good, err)
		}
		if good, err := hosts[1].transport.askCertificates(peertest.AddrOf(1), nil, time.Now().
			Add(time.Second)); err != nil || good != 0 {
			t.Errorf("a member: %d, %v", good, err)
		}
	})
}
