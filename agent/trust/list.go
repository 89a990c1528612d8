package trust

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/wanderd/wanderd/membership/identity"
)

type list struct {
	keys, authorities []entry
	// revoked are keys in SSH's wire format.
	revoked map[string]bool
}

// entry is a key and the names for which it is good.
type entry struct {
	names patterns
	key   []byte
}

// NoLineError is returned if the file has no line for a member with that name and key.
type NoLineError struct{ Name string }

func (e *NoLineError) Error() string { return fmt.Sprintf("no line gives %q this key", e.Name) }

// errNobody is returned for a file that trusts nobody: it is probably just being written, and not meant to separate all
// members.
var errNobody = errors.New("it trusts no key and no authority")

// parse reads a file. The error names the line.
func parse(text []byte) (*list, error) {
	l := &list{revoked: make(map[string]bool)}
	for number := 1; len(text) > 0; number++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		marker, hosts, key, _, _, err := ssh.ParseKnownHosts(line)
		if err != nil {
			return nil, fmt.Errorf("line %d is not one of known hosts: %w", number, err)
		}
		names, err := parsePatterns(hosts)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		switch e := (entry{names, key.Marshal()}); marker {
		case "":
			l.keys = append(l.keys, e)
		case "cert-authority":
			l.authorities = append(l.authorities, e)
		case "revoked":
			l.revoked[string(e.key)] = true
		default:
			return nil, fmt.Errorf("line %d: unknown marker @%s", number, marker)
		}
	}
	if len(l.keys)+len(l.authorities) == 0 {
		return nil, errNobody
	}
	return l, nil
}

// check returns until when a member with that name may have that key; zero means for ever. The certificate, in SSH's
// wire format, may be nil; the error is identity.ErrNoCertificate if a certificate could help.
func (l *list) check(name string, key ed25519.PublicKey, certificate []byte, now time.Time, p *proven) (until time.Time,
	err error,
) {
	public, err := ssh.NewPublicKey(key)
	if err != nil {
		return until, err
	}
	raw := public.Marshal()
	if l.revoked[string(raw)] {
		return until, errors.New("its key is revoked")
	}
	if slices.ContainsFunc(l.keys, func(e entry) bool { return bytes.Equal(e.key, raw) && e.names.match(name) }) {
		return until, nil
	}
	switch authority := slices.ContainsFunc(l.authorities, func(e entry) bool { return e.names.match(name) }); {
	case !authority:
		return until, &NoLineError{name}
	case certificate == nil:
		return until, identity.ErrNoCertificate
	}
	return l.checkCertificate(name, raw, certificate, now, p)
}

func (l *list) checkCertificate(name string, key, certificate []byte, now time.Time, p *proven) (until time.Time,
	err error,
) {
	digest := sha256.Sum256(certificate)
	c := p.find(digest)
	isProven := c != nil
	if !isProven {
		if c, err = readCertificate(certificate); err != nil {
			return until, err
		}
	}
	authority := c.SignatureKey.Marshal()
	switch {
	case !bytes.Equal(c.Key.Marshal(), key):
		return until, errors.New("its certificate belongs to another key")
	case c.CertType != ssh.HostCert:
		return until, errors.New("its certificate is not of a host: sign with ssh-keygen -h")
	case l.revoked[string(authority)]:
		return until, errors.New("its certificate is signed by a revoked key")
	case !slices.ContainsFunc(l.authorities, func(e entry) bool {
		return bytes.Equal(e.key, authority) && e.names.match(name)
	}):
		return until, fmt.Errorf("its certificate is signed by a key that is no authority for %q", name)
	case len(c.ValidPrincipals) != 1 || c.ValidPrincipals[0] != name:
		return until, fmt.Errorf("its certificate is for %s, and must be for %q alone", principals(c), name)
	case c.Signature.Format == ssh.KeyAlgoRSA:
		return until, errors.New("its certificate is signed with SHA-1")
	}
	if !isProven {
		checker := ssh.CertChecker{Clock: func() time.Time { return now }}
		if err := checker.CheckCert(name, c); err != nil {
			return until, fmt.Errorf("its certificate: %.200s", err.Error())
		}
		p.add(digest, c)
	}
	if c.ValidBefore != ssh.CertTimeInfinity {
		until = time.Unix(int64(c.ValidBefore), 0) // CheckCert has refused a time that does not fit in an int64
	}
	if now.Before(time.Unix(int64(c.ValidAfter), 0)) || !until.IsZero() && !now.Before(until) {
		return time.Time{}, errors.New("its certificate is not valid at this time")
	}
	return until, nil
}

// readCertificate reads a certificate in SSH's wire format, and checks nothing in it.
func readCertificate(raw []byte) (*ssh.Certificate, error) {
	key, err := ssh.ParsePublicKey(raw)
	if err != nil {
		return nil, fmt.Errorf("its certificate cannot be read: %w", err)
	}
	c, ok := key.(*ssh.Certificate)
	if !ok {
		return nil, errors.New("it shows a key instead of a certificate")
	}
	return c, nil
}

// principals returns the principals of a certificate, for a line of the log: anybody may have written them.
func principals(c *ssh.Certificate) string {
	switch len(c.ValidPrincipals) {
	case 0:
		return "nobody"
	case 1:
		return fmt.Sprintf("%.64q", c.ValidPrincipals[0])
	}
	return fmt.Sprintf("%d names", len(c.ValidPrincipals))
}
