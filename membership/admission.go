package membership

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"sync"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Trust decides which keys may take part in the fleet. Its methods are safe for concurrent use.
type Trust interface {
	// Check returns the time until which a member with this name and key may take part, zero for ever, or the reason why it may not. The certificate is
	// nil if none is known; the error is [ErrNoCertificate] if a certificate could help.
	Check(name string, key ed25519.PublicKey, certificate []byte) (until time.Time, err error)
}

// ErrNoCertificate is returned for a member that may be trusted once it has shown its certificate.
var ErrNoCertificate = errors.New("it has not shown its certificate")

// admission remembers which members are trusted, and the certificates that were shown. It is safe for concurrent use.
type admission struct {
	// trust is nil if everybody with the secret may take part.
	trust Trust

	mu sync.Mutex
	// guests are the members that were trusted when they were last judged; others are not kept.
	guests map[wire.MemberID]*guest
}

type guest struct {
	name        string
	key         ed25519.PublicKey
	certificate []byte
	// until is when the verdict ends; zero is never. judged is unset if what is trusted has changed since.
	until  time.Time
	judged bool
	// since is when it was admitted, itself whether it has shown its certificate itself.
	since  time.Time
	itself bool
}

func newAdmission(trust Trust) *admission {
	return &admission{trust: trust, guests: make(map[wire.MemberID]*guest)}
}

// judge returns the reason why a member that shows a certificate is not trusted; a nil certificate is none.
func (a *admission) judge(name string, id wire.MemberID, key ed25519.PublicKey, certificate []byte) error {
	if a.trust == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if g := a.guests[id]; g != nil && g.name == name && certificate == nil {
		return a.again(id, g)
	}
	if err := a.admit(name, id, key, certificate); err != nil {
		return err
	}
	a.guests[id].itself = certificate != nil
	return nil
}

// admit judges a member, and remembers it if it is trusted.
func (a *admission) admit(name string, id wire.MemberID, key ed25519.PublicKey, certificate []byte) error {
	until, err := a.trust.Check(name, key, certificate)
	if err != nil {
		return err
	}
	if len(a.guests) >= checkedMax {
		clear(a.guests)
	}
	now := &guest{name: name, key: key, certificate: certificate, until: until, judged: true, since: time.Now()}
	if was := a.guests[id]; was != nil && bytes.Equal(was.certificate, certificate) {
		now.since, now.itself = was.since, was.itself
	}
	a.guests[id] = now
	return nil
}

// knows reports whether a member of that name is trusted.
func (a *admission) knows(name string, id wire.MemberID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.guests[id]
	return g != nil && g.name == name && a.again(id, g) == nil
}

// vouch judges a member by a certificate that another member has shown, and reports whether it is trusted. A trusted member keeps its name, unless it is
// wanted under another name: then it has announced this name itself. A certificate that it has shown itself is kept in any case.
func (a *admission) vouch(name string, id wire.MemberID, key ed25519.PublicKey, certificate []byte, wanted bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if g := a.guests[id]; g != nil && a.again(id, g) == nil && (g.name == name || g.itself || !wanted) {
		return g.name == name
	}
	return a.admit(name, id, key, certificate) == nil
}

// certificates returns the certificates of the wanted members, and of up to most others that were admitted after since.
func (a *admission) certificates(wanted []wire.MemberID, since time.Time, most int) (list []shown) {
	a.mu.Lock()
	defer a.mu.Unlock()
	add := func(id wire.MemberID, g *guest) bool {
		if g == nil || g.certificate == nil || a.again(id, g) != nil {
			return false
		}
		list = append(list, shown{g.name, g.key, g.certificate})
		return true
	}
	asked := make(map[wire.MemberID]bool, len(wanted))
	for _, id := range wanted {
		if !asked[id] {
			asked[id] = true
			add(id, a.guests[id])
		}
	}
	for id, g := range a.guests {
		if most > 0 && g.since.After(since) && !asked[id] && add(id, g) {
			most--
		}
	}
	return list
}

// again judges a guest again if the verdict is out of date. A guest that is no longer trusted has to show a certificate again.
func (a *admission) again(id wire.MemberID, g *guest) error {
	if g.judged && (g.until.IsZero() || time.Now().Before(g.until)) {
		return nil
	}
	err := a.admit(g.name, id, g.key, g.certificate)
	if err != nil {
		delete(a.guests, id)
	}
	return err
}

// reconsider makes every verdict out of date.
func (a *admission) reconsider() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, g := range a.guests {
		g.judged = false
	}
}

// key returns the key of a trusted member.
func (a *admission) key(id wire.MemberID) (ed25519.PublicKey, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.guests[id]
	if g == nil {
		return nil, errNotMember
	}
	return g.key, a.again(id, g)
}
