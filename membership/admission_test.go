package membership

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// startTrusting starts hosts 1 to n, which trust by one book and show their certificates.
func (f *fleet) startTrusting(b *peertest.Book, n int) (hosts []*host) {
	for i := 1; i <= n; i++ {
		hosts = append(hosts, f.start(i, func(c *Config) {
			c.Trust, c.Certificate = b, func() []byte { return peertest.CertificateOf(i) }
		}))
	}
	return hosts
}

// Only a trusted member is heard: no other is, not by datagrams in a good seal, and not on a connection.
func TestTheSecretAloneDoesNothingWhereKeysAreTrusted(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startTrusting(&peertest.Book{Known: []int{1, 2, 3}}, 3)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		outsider := f.start(66)
		node := identity.NodeName("host2", wire.MemberIDOf(peertest.KeyOf(2)))
		for n := range 200 {
			accuse := peertest.Pack(packets.DeadMsg, "Incarnation", 1000+n, "Node", node, "From", node)
			f.tell(hosts[0], accuse)
			forged := introducerOf(66)
			forged.ID = wire.MemberIDOf(peertest.KeyOf(3))
			hosts[0].Deliver(peertest.SealPacket(t, secretOne, 1, forged.SignPacket(accuse)), peertest.AddrOf(3))
			for i := range 20 {
				meta := peers.Metadata{Key: peertest.KeyOf(1000 + i), Counter: 1}
				invented := identity.NodeName(fmt.Sprintf("host%d", 1000+i), wire.MemberIDOf(peertest.KeyOf(1000+i)))
				f.tell(hosts[0], peertest.Pack(packets.AliveMsg, "Incarnation", 1, "Node", invented, "Addr",
					[]byte{10, 0, 9, byte(i)}, "Port", 7946, "Meta",
					meta.Encode(peertest.PrivateOf(1000+i), invented, peertest.AddrOf(9<<8+i)), "Vsn",
					[]byte{1, 5, 2, 0, 0, 0}))
			}
		}
		f.always(time.Minute, "nothing happens", allSee(hosts, 1, 2, 3))
		if s := hosts[0].Stats(); s.Untrusted < 200*22 {
			t.Errorf("counted %+v", s)
		}
		if seen := outsider.view(); len(seen.Members) != 1 {
			t.Errorf("the outsider sees %d members", len(seen.Members))
		}
		for _, h := range hosts {
			if lines := h.logs.With("warn"); len(lines) > 2 {
				t.Errorf("warned %d times: %s", len(lines), lines)
			}
		}
	})
}

// A host that has the secret, but whose key is not trusted, is known by what it has signed: its name and its key.
func TestAHostThatIsNotTrustedIsKnownByItsKey(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startTrusting(&peertest.Book{Known: []int{1, 2}}, 2)
		begun := time.Now()
		f.start(66)
		f.within(time.Minute, "it is known", func() bool { return len(hosts[0].Outsiders(begun)) == 1 })
		if x := hosts[0].Outsiders(begun)[0]; x.Name != "host66" || !x.Key.Equal(peertest.KeyOf(66)) ||
			x.ID != wire.MemberIDOf(peertest.KeyOf(66)) || x.Why == nil {
			t.Errorf("known as %+v", x)
		}
		if late := hosts[0].Outsiders(time.Now().Add(time.Second)); len(late) > 0 {
			t.Errorf("heard later: %+v", late)
		}
	})
}

func TestCertificatesTravelOnRequest(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		all := []int{1, 2, 3, 4, 5, 6, 7, 8}
		hosts := f.startTrusting(&peertest.Book{Certified: all}, len(all))
		f.within(10*time.Second, "everybody sees everybody", allSee(hosts, all...))
	})
}

func TestARevokedMemberIsOutAndMayComeBack(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		b := &peertest.Book{Known: []int{1, 2, 3, 4}}
		hosts := f.startTrusting(b, 4)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3, 4))
		revoke := func(list ...int) {
			b.Set(func(b *peertest.Book) { b.Known = list })
			for _, h := range hosts {
				h.Reconsider(true)
			}
		}
		revoke(1, 2, 3)
		f.within(100*time.Millisecond, "it is out", allSee(hosts[:3], 1, 2, 3))
		f.always(3*time.Minute, "it stays out", allSee(hosts[:3], 1, 2, 3))
		if got := hosts[0].All(); got[slices.IndexFunc(got, func(m Member) bool {
			return m.Name == "host4"
		})].State != StateUntrusted {
			t.Errorf("listed as %+v", got)
		}
		revoke(1, 2, 3, 4)
		f.within(2*time.Minute, "it is back", allSee(hosts, 1, 2, 3, 4))
		revoke(1, 2, 3)
		revoke(1, 2, 3, 4)
		f.within(2*time.Minute, "it is back, though nobody has noticed", allSee(hosts, 1, 2, 3, 4))
	})
}

func TestAMemberIsOutWhenItsCertificateExpires(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		b := &peertest.Book{Known: []int{1, 2}, Certified: []int{3}, Until: time.Now().Add(time.Minute)}
		hosts := f.startTrusting(b, 3)
		f.within(10*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		time.Sleep(time.Until(b.Until) + time.Second)
		// An agent does this every second.
		see := func(who []*host, numbers ...int) func() bool {
			return func() bool {
				for _, h := range hosts {
					h.Reconsider(false)
				}
				return allSee(who, numbers...)()
			}
		}
		f.within(time.Second, "it is out", see(hosts[:2], 1, 2))
		b.Set(func(b *peertest.Book) { b.Until = time.Now().Add(time.Hour) })
		f.within(2*time.Minute, "it is back with a new one", see(hosts, 1, 2, 3))
	})
}
