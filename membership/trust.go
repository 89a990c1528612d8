package membership

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
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
			return time.Time{}, identity.ErrNoCertificate
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
		return until, identity.ErrNoCertificate
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

func farFuture() time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) }

func lasting(i int) []byte { return issued("ca", i, farFuture()) }
