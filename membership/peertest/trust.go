package peertest

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
	"github.com/wanderd/wanderd/wire"
)

// Book trusts hosts. It trusts those in certified only if they show their certificate.
type Book struct {
	mu               sync.Mutex
	Known, Certified []int
	// Until is when the certificates expire; zero means never.
	Until time.Time
}

// CertificateOf returns the certificate of host i that a [Book] trusts.
func CertificateOf(i int) []byte { return fmt.Appendf(nil, "certificate of %d", i) }

// Check implements Trust.
func (b *Book) Check(name string, key ed25519.PublicKey, certificate []byte) (time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	is := func(i int) bool { return KeyOf(i).Equal(key) && name == fmt.Sprintf("host%d", i) }
	if slices.ContainsFunc(b.Known, is) {
		return time.Time{}, nil
	}
	for _, i := range b.Certified {
		switch {
		case !is(i):
		case certificate == nil:
			return time.Time{}, identity.ErrNoCertificate
		case !bytes.Equal(certificate, CertificateOf(i)) || !b.Until.IsZero() && time.Now().After(b.Until):
			return time.Time{}, errors.New("a bad certificate")
		default:
			return b.Until, nil
		}
	}
	return time.Time{}, errors.New("unknown")
}

// Set changes what is trusted.
func (b *Book) Set(change func(*Book)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

// Issued returns a certificate of an authority in tests.
func Issued(by string, i int, until time.Time, padding ...byte) []byte {
	return append(fmt.Appendf(nil, "%s %s host%d %d", by, wire.MemberIDOf(KeyOf(i)), i, until.Unix()), padding...)
}

// Office trusts the certificates of authorities, as a host's file of known hosts does.
type Office struct {
	mu                   sync.Mutex
	Authorities, Revoked []string
	// Slow is how far its clock is behind.
	Slow time.Duration
	// Good counts the certificates that it has found good.
	Good atomic.Int64
}

// Check implements Trust.
func (o *Office) Check(name string, key ed25519.PublicKey, certificate []byte) (until time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if slices.Contains(o.Revoked, name) {
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
	until = time.Unix(end, 0).Add(o.Slow)
	switch {
	case !slices.Contains(o.Authorities, by):
		return until, errors.New("no authority")
	case owner != name || id != wire.MemberIDOf(key).String():
		return until, errors.New("of somebody else")
	case !time.Now().Before(until):
		return until, errors.New("expired")
	}
	o.Good.Add(1)
	return until, nil
}

// Set changes what is trusted.
func (o *Office) Set(change func(*Office)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(o)
}

// FarFuture returns when the certificates of most tests expire.
func FarFuture() time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) }

// Lasting returns a certificate of host i that does not expire.
func Lasting(i int) []byte { return Issued("ca", i, FarFuture()) }
