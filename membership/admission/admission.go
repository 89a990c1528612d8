// Package admission decides who may take part if keys have to be trusted: how members introduce themselves, whose
// certificates are known here, whose are missing, and who was turned away.
package admission

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"sync"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

// Admission remembers which members are trusted, and the certificates that were shown. It is safe for concurrent use.
type Admission struct {
	// trust is nil if everybody with the secret may take part.
	trust identity.Trust

	mu sync.Mutex
	// members are the members that were trusted when they were last judged; no others are kept.
	members map[wire.MemberID]*admitted
}

// admitted is a member that was trusted when it was last judged.
type admitted struct {
	name        string
	key         ed25519.PublicKey
	certificate []byte
	// until is when the verdict ends; zero means never. judged becomes false when what is trusted changes.
	until  time.Time
	judged bool
	// since is when the member was admitted. itself is true if the member has shown its certificate itself.
	since  time.Time
	itself bool
}

// New returns an admission that admits everybody with the secret if trust is nil.
func New(trust identity.Trust) *Admission {
	return &Admission{trust: trust, members: make(map[wire.MemberID]*admitted)}
}

// Checks reports whether keys have to be trusted.
func (a *Admission) Checks() bool { return a.trust != nil }

// Judge returns the reason why a member that shows a certificate is not trusted; a nil certificate means that it shows
// none.
func (a *Admission) Judge(name string, id wire.MemberID, key ed25519.PublicKey, certificate []byte) error {
	if a.trust == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.members[id]; m != nil && m.name == name && certificate == nil {
		return a.again(id, m)
	}
	if err := a.admit(name, id, key, certificate); err != nil {
		return err
	}
	a.members[id].itself = certificate != nil
	return nil
}

// admit judges a member, and remembers it if it is trusted.
func (a *Admission) admit(name string, id wire.MemberID, key ed25519.PublicKey, certificate []byte) error {
	until, err := a.trust.Check(name, key, certificate)
	if err != nil {
		return err
	}
	if len(a.members) >= MaxChecked {
		clear(a.members)
	}
	now := &admitted{name: name, key: key, certificate: certificate, until: until, judged: true, since: time.Now()}
	if was := a.members[id]; was != nil && bytes.Equal(was.certificate, certificate) {
		now.since, now.itself = was.since, was.itself
	}
	a.members[id] = now
	return nil
}

// Knows reports whether a member of that name is trusted.
func (a *Admission) Knows(name string, id wire.MemberID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.members[id]
	return m != nil && m.name == name && a.again(id, m) == nil
}

// Vouch judges a member by a certificate that another member has shown, and reports whether it is trusted. A trusted
// member keeps its name, unless it is wanted under another name, because then it has announced that name itself. A
// certificate that the member has shown itself is kept in any case.
func (a *Admission) Vouch(name string, id wire.MemberID, key ed25519.PublicKey, certificate []byte, wanted bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.members[id]; m != nil && a.again(id, m) == nil && (m.name == name || m.itself || !wanted) {
		return m.name == name
	}
	return a.admit(name, id, key, certificate) == nil
}

// Certificates returns the certificates of the wanted members, and of up to most others that were admitted after since.
func (a *Admission) Certificates(wanted []wire.MemberID, since time.Time, most int) (list []Shown) {
	a.mu.Lock()
	defer a.mu.Unlock()
	add := func(id wire.MemberID, m *admitted) bool {
		if m == nil || m.certificate == nil || a.again(id, m) != nil {
			return false
		}
		list = append(list, Shown{m.name, m.key, m.certificate})
		return true
	}
	asked := make(map[wire.MemberID]bool, len(wanted))
	for _, id := range wanted {
		if !asked[id] {
			asked[id] = true
			add(id, a.members[id])
		}
	}
	for id, m := range a.members {
		if most > 0 && m.since.After(since) && !asked[id] && add(id, m) {
			most--
		}
	}
	return list
}

// again judges a member again if the verdict is out of date. A member that is no longer trusted has to show a
// certificate again.
func (a *Admission) again(id wire.MemberID, m *admitted) error {
	if m.judged && (m.until.IsZero() || time.Now().Before(m.until)) {
		return nil
	}
	err := a.admit(m.name, id, m.key, m.certificate)
	if err != nil {
		delete(a.members, id)
	}
	return err
}

// Reconsider makes every verdict out of date.
func (a *Admission) Reconsider() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.members {
		m.judged = false
	}
}

// Key returns the key of a trusted member.
func (a *Admission) Key(id wire.MemberID) (ed25519.PublicKey, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.members[id]
	if m == nil {
		return nil, ErrNotMember
	}
	return m.key, a.again(id, m)
}

// ErrNotMember is returned for a message whose sender is not known here.
var ErrNotMember = errors.New("it is not from a member that is known here")

// MaxChecked bounds the cached results of checks; a full cache is cleared.
const MaxChecked = 1 << 14
