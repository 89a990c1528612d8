package membership

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// book trusts hosts, those in certified only if they show their certificate.
type book struct {
	mu               sync.Mutex
	known, certified []int
	// until is when the certificates expire; zero is never.
	until time.Time
}

func certificateOf(i int) []byte { return fmt.Appendf(nil, "certificate of %d", i) }

// Check implements Trust.
func (b *book) Check(name string, key ed25519.PublicKey, certificate []byte) (time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	is := func(i int) bool { return peertest.KeyOf(i).Equal(key) && name == fmt.Sprintf("host%d", i) }
	if slices.ContainsFunc(b.known, is) {
		return time.Time{}, nil
	}
	for _, i := range b.certified {
		switch {
		case !is(i):
		case certificate == nil:
			return time.Time{}, ErrNoCertificate
		case !bytes.Equal(certificate, certificateOf(i)) || !b.until.IsZero() && time.Now().After(b.until):
			return time.Time{}, errors.New("a bad certificate")
		default:
			return b.until, nil
		}
	}
	return time.Time{}, errors.New("unknown")
}

func (b *book) set(change func(*book)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

// startTrusting starts hosts 1 to n, which trust by one book and show their certificates.
func (f *fleet) startTrusting(b *book, n int) (hosts []*host) {
	for i := 1; i <= n; i++ {
		hosts = append(hosts, f.start(i, func(c *Config) {
			c.Trust, c.Certificate = b, func() []byte { return certificateOf(i) }
		}))
	}
	return hosts
}

// Nobody but a trusted member is heard: not by datagrams in a good seal, not on a connection.
func TestTheSecretAloneDoesNothingWhereKeysAreTrusted(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startTrusting(&book{known: []int{1, 2, 3}}, 3)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		outsider := f.start(66)
		node := identity.NodeName("host2", wire.MemberIDOf(peertest.KeyOf(2)))
		for n := range 200 {
			accuse := peertest.Pack(packets.DeadMsg, "Incarnation", 1000+n, "Node", node, "From", node)
			f.tell(hosts[0], accuse)
			forged := introducerOf(66)
			forged.id = wire.MemberIDOf(peertest.KeyOf(3))
			hosts[0].Deliver(sealPacket(t, secretOne, sealedVersion, forged.signPacket(accuse)), peertest.AddrOf(3))
			for i := range 20 {
				meta := peers.Metadata{Key: peertest.KeyOf(1000 + i), Counter: 1}
				invented := identity.NodeName(fmt.Sprintf("host%d", 1000+i), wire.MemberIDOf(peertest.KeyOf(1000+i)))
				f.tell(hosts[0], peertest.Pack(packets.AliveMsg, "Incarnation", 1, "Node", invented, "Addr", []byte{10, 0, 9, byte(i)}, "Port", 7946, "Meta",
					meta.Encode(peertest.PrivateOf(1000+i), invented, peertest.AddrOf(9<<8+i)), "Vsn", []byte{1, 5, 2, 0, 0, 0}))
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

// A host that has the secret, and whose key nobody trusts, is known by what it has signed: its name and its key. There
// are few places for such hosts.
func TestAHostThatIsNotTrustedIsKnownByItsKey(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startTrusting(&book{known: []int{1, 2}}, 2)
		begun := time.Now()
		f.start(66)
		f.within(time.Minute, "it is known", func() bool { return len(hosts[0].Outsiders(begun)) == 1 })
		if x := hosts[0].Outsiders(begun)[0]; x.Name != "host66" || !x.Key.Equal(peertest.KeyOf(66)) || x.ID != wire.MemberIDOf(peertest.KeyOf(66)) || x.Why == nil {
			t.Errorf("known as %+v", x)
		}
		if late := hosts[0].Outsiders(time.Now().Add(time.Second)); len(late) > 0 {
			t.Errorf("heard later: %+v", late)
		}
	})

	var o outsiders
	for i := range 2 * maxOutsiders {
		o.note(Outsider{ID: wire.MemberID{byte(i)}})
		o.note(Outsider{ID: wire.MemberID{byte(i)}})
	}
	if len(o.list) != maxOutsiders || o.list[0].ID != (wire.MemberID{maxOutsiders}) {
		t.Errorf("%d are remembered, from %s on", len(o.list), o.list[0].ID)
	}
}

func TestCertificatesTravelOnRequest(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		all := []int{1, 2, 3, 4, 5, 6, 7, 8}
		hosts := f.startTrusting(&book{certified: all}, len(all))
		f.within(10*time.Second, "everybody sees everybody", allSee(hosts, all...))
	})
}

func TestARevokedMemberIsOutAndMayComeBack(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		b := &book{known: []int{1, 2, 3, 4}}
		hosts := f.startTrusting(b, 4)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3, 4))
		revoke := func(list ...int) {
			b.set(func(b *book) { b.known = list })
			for _, h := range hosts {
				h.Reconsider(true)
			}
		}
		revoke(1, 2, 3)
		f.within(100*time.Millisecond, "it is out", allSee(hosts[:3], 1, 2, 3))
		f.always(3*time.Minute, "it stays out", allSee(hosts[:3], 1, 2, 3))
		if got := hosts[0].All(); got[slices.IndexFunc(got, func(m Member) bool { return m.Name == "host4" })].State != StateUntrusted {
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
		b := &book{known: []int{1, 2}, certified: []int{3}, until: time.Now().Add(time.Minute)}
		hosts := f.startTrusting(b, 3)
		f.within(10*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		time.Sleep(time.Until(b.until) + time.Second)
		// As an agent does every second.
		see := func(who []*host, numbers ...int) func() bool {
			return func() bool {
				for _, h := range hosts {
					h.Reconsider(false)
				}
				return allSee(who, numbers...)()
			}
		}
		f.within(time.Second, "it is out", see(hosts[:2], 1, 2))
		b.set(func(b *book) { b.until = time.Now().Add(time.Hour) })
		f.within(2*time.Minute, "it is back with a new one", see(hosts, 1, 2, 3))
	})
}

func TestAnIntroductionIsReadAsItWasWritten(t *testing.T) {
	for _, certificate := range [][]byte{nil, certificateOf(1), make([]byte, maxCertificate)} {
		who := introducerOf(1)
		who.certificate = func() []byte { return certificate }
		nonces := bytes.Repeat([]byte{7}, callerNonce+acceptorNonce)
		in, err := parseIntroduction(who.introduce("caller", nonces, []byte("message")))
		if err != nil || in.name != "host1" || !in.key.Equal(peertest.KeyOf(1)) || !bytes.Equal(in.certificate, certificate) || string(in.message) != "message" {
			t.Fatalf("%+v, %v", in, err)
		}
		a := newAdmission(&book{known: []int{1}})
		if err := in.check(a, "caller", nonces); err != nil {
			t.Error(err)
		}
		nonces[0]++
		if err := in.check(a, "caller", nonces); !errors.Is(err, identity.ErrForged) {
			t.Errorf("on another connection: %v", err)
		}
		nonces[0]--
		if err := in.check(a, "acceptor", nonces); !errors.Is(err, identity.ErrForged) {
			t.Errorf("by the other side: %v", err)
		}
	}
}

// FuzzIntroduction: the first bytes on a connection that has proved the secret, or of anybody without one.
func FuzzIntroduction(f *testing.F) {
	who := introducerOf(1)
	f.Add(who.introduce("caller", nil, peertest.Pack(packets.PingMsg, "SeqNo", 7)))
	who.certificate = func() []byte { return certificateOf(1) }
	f.Add(who.introduce("caller", nil, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := parseIntroduction(b)
		if err != nil {
			return
		}
		if len(in.name)+len(in.certificate)+len(in.message)+ed25519.PublicKeySize+ed25519.SignatureSize+4 != len(b) {
			t.Errorf("%d bytes read as %+v", len(b), in)
		}
		a := newAdmission(&book{known: []int{2}})
		if in.check(a, "caller", nil) == nil {
			t.Errorf("trusted: %+v", in)
		}
	})
}
