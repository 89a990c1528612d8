package trust

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/wanderd/wanderd/agent/changed"
)

// maxCertificate bounds a certificate, in bytes. An Ed25519 key signed by an RSA key of 4,096 bits takes 1,500.
const maxCertificate = 8 << 10

// Certificate is the file of a member's own certificate, as ssh-keygen writes it; the file need not exist. Its methods
// are safe for concurrent use, except Refresh, which only one goroutine may call.
type Certificate struct{ watched[[]byte] }

// NewCertificate returns a certificate that has not been read.
func NewCertificate(path string) *Certificate {
	return &Certificate{
		watched[[]byte]{what: "certificate", file: changed.File{Path: path}, parse: parseCertificate, optional: true},
	}
}

// Bytes returns the certificate in SSH's wire format; nil if there is none.
func (c *Certificate) Bytes() []byte {
	if raw := c.last.Load(); raw != nil {
		return *raw
	}
	return nil
}

func parseCertificate(text []byte) (*[]byte, error) {
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil, fmt.Errorf("it is not a line with a certificate: %w", err)
	}
	c, ok := key.(*ssh.Certificate)
	if !ok {
		return nil, errors.New("it has a key instead of a certificate")
	}
	raw := c.Marshal()
	if len(raw) > maxCertificate {
		return nil, fmt.Errorf("it is longer than %d bytes", maxCertificate)
	}
	return &raw, nil
}

// Sign makes a host certificate: the authority, a private key in OpenSSH's format, certifies without a time limit that
// the key belongs to the member of that name. It returns the line for the file.
func Sign(authority []byte, key ed25519.PublicKey, name string) ([]byte, error) {
	signer, err := ssh.ParsePrivateKey(authority)
	if _, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		return nil,
			errors.New("the authority's key has a passphrase: sign with ssh-keygen -s instead, which asks for it")
	}
	if err != nil {
		return nil, fmt.Errorf("the authority's key cannot be read: %w", err)
	}
	public, err := ssh.NewPublicKey(key)
	if err != nil {
		return nil, err
	}
	c := &ssh.Certificate{
		Key: public, CertType: ssh.HostCert, KeyId: name, ValidPrincipals: []string{name},
		ValidBefore: ssh.CertTimeInfinity,
	}
	if err := c.SignCert(rand.Reader, signer); err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return ssh.MarshalAuthorizedKey(c), nil
}

// Line returns the line of known hosts that gives a member its key.
func Line(name string, key ed25519.PublicKey) (string, error) {
	public, err := ssh.NewPublicKey(key)
	if err != nil {
		return "", err
	}
	return name + " " + string(ssh.MarshalAuthorizedKey(public)), nil
}
