package statedir

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

const nodeKeyName = "node_key"

// CertificateSuffix is what ssh-keygen appends to the name of a key to name its certificate.
const CertificateSuffix = "-cert.pub"

// NodeKeyPath returns the path of the node key in a state directory.
func NodeKeyPath(dir string) string { return filepath.Join(dir, nodeKeyName) }

// CertificatePath returns the path of the node key's certificate; the file need not exist.
func (d *Dir) CertificatePath() string { return filepath.Join(d.path, nodeKeyName+CertificateSuffix) }

// NodeKey returns this member's signing key, and makes one if there is none. It refuses a key that others can read,
// that is encrypted, or that is not Ed25519.
func (d *Dir) NodeKey() (key ed25519.PrivateKey, created bool, err error) {
	path := filepath.Join(d.path, nodeKeyName)
	if key, err = ReadNodeKey(path); !errors.Is(err, fs.ErrNotExist) {
		return key, false, err
	}
	if key, err = newNodeKey(path); err != nil {
		return nil, false, d.explain("cannot make a node key", err)
	}
	return key, true, nil
}

// ReadNodeKey reads a node key from a file. It refuses a key that others can read, that is encrypted, or that is not
// Ed25519.
func ReadNodeKey(path string) (ed25519.PrivateKey, error) {
	text, err := ReadKeyFile(path)
	if err != nil {
		return nil, fmt.Errorf("node key: %w", err)
	}
	key, err := parseNodeKey(text)
	if err != nil {
		return nil, fmt.Errorf("node key %s: %w", path, err)
	}
	return key, nil
}

// ReadKeyFile reads the file of a private key. It refuses a file that others can read.
func ReadKeyFile(path string) ([]byte, error) { return readPrivate(path, false) }

// WriteNewNodeKey makes a key, writes it to a file that must not exist yet, and returns the public key.
func WriteNewNodeKey(path string) (ed25519.PublicKey, error) {
	key, err := newNodeKey(path)
	if err != nil {
		return nil, fmt.Errorf("cannot write a node key: %w", err)
	}
	return key.Public().(ed25519.PublicKey), nil
}

func newNodeKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	text, err := marshalNodeKey(key)
	if err != nil {
		return nil, err
	}
	return key, createPrivate(path, text)
}

func marshalNodeKey(key ed25519.PrivateKey) ([]byte, error) {
	block, err := ssh.MarshalPrivateKey(key, "wanderd node key")
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(block), nil
}

func parseNodeKey(text []byte) (ed25519.PrivateKey, error) {
	if len(text) == 0 {
		return nil, errors.New("it is empty: remove it to get a new one")
	}
	parsed, err := ssh.ParseRawPrivateKey(text)
	if _, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		return nil, errors.New("it is encrypted, and an agent cannot ask for a passphrase: remove the passphrase " +
			"with ssh-keygen -p")
	}
	if err != nil {
		return nil, fmt.Errorf("it is not a private key (%w): restore it, or remove it to get a new key and a new "+
			"identity", err)
	}
	key, ok := parsed.(*ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("it is a %T, want an Ed25519 key in OpenSSH's format: make one with \"wanderd keygen\"",
			parsed)
	}
	// The file has the public key twice. Signatures must verify with the one that is gossiped.
	if !key.Equal(ed25519.NewKeyFromSeed(key.Seed())) {
		return nil, errors.New("its private and public key do not match: restore it, or remove it to get a new key " +
			"and a new identity")
	}
	return *key, nil
}
