package statedir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wanderd/wanderd/agent/safepath"
	"github.com/wanderd/wanderd/wire"
)

// ReadSecretFile reads the fleet secret, or two of them while the fleet changes its secret: the first seals, both open.
// It refuses a file that others can replace or read, except a credential of systemd (LoadCredential=), whose directory
// only this service can enter. Errors never contain the file's content.
func ReadSecretFile(path string) ([]wire.Secret, error) {
	text, err := readOwn(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil,
			fmt.Errorf("the secret file %s does not exist: make one with \"wanderd keygen --secret\", and give "+
				"all members the same", path)
	}
	if err != nil {
		return nil, fmt.Errorf("secret file: %w", err)
	}
	secrets, err := wire.ParseSecrets(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return secrets, nil
}

// readOwn reads a file that others can neither replace nor read, or a credential.
func readOwn(path string) ([]byte, error) {
	text, err := readPrivate(path, isCredential(path, os.Getenv("CREDENTIALS_DIRECTORY")))
	if err == nil {
		err = safepath.Check(path)
	}
	return text, err
}

// ReadPrivateText reads a file with another secret, under the rules of [ReadSecretFile].
func ReadPrivateText(path string) (string, error) {
	text, err := readOwn(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s does not exist: write the secret into it, and chmod 600 %[1]s", path)
	}
	return string(text), err
}

// WriteNewSecretFile makes a fleet secret and writes it to a file that must not exist yet.
func WriteNewSecretFile(path string) error {
	var secret wire.Secret
	_, _ = rand.Read(secret[:]) // It never fails.
	if err := createPrivate(path, []byte(secret.Reveal()+"\n")); err != nil {
		return fmt.Errorf("cannot write a fleet secret: %w", err)
	}
	return nil
}

// isCredential reports whether path lies in the directory of systemd's credentials; dir is empty if there is none.
func isCredential(path, dir string) bool {
	if dir == "" {
		return false
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	inside, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(inside)
}
