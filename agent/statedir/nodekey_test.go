package statedir

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func TestTheNodeKeyIsMadeOnceAndKept(t *testing.T) {
	d := open(t, t.TempDir())
	made, created, err := d.NodeKey()
	if err != nil || !created {
		t.Fatalf("%v, %v", created, err)
	}
	again, created, err := d.NodeKey()
	if err != nil || created || !again.Equal(made) {
		t.Errorf("%v, %v, the same: %v", created, err, again.Equal(made))
	}
	if !ed25519.Verify(made.Public().(ed25519.PublicKey), []byte("m"), ed25519.Sign(again, []byte("m"))) {
		t.Error("it does not sign for itself")
	}
}

func TestTheNodeKeyIsInTheFormatOfOpenSSH(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	public, err := WriteNewNodeKey(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command(keygen, "-y", "-f", path).Output()
	if err != nil || !strings.HasPrefix(string(got), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(want)))) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestANewKeyReplacesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := WriteNewNodeKey(path)
	says(t, err, path, "exists", "another path")
	says(t, WriteNewSecretFile(path), path, "exists")
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestANodeKeyOfTheWrongKindIsRefused(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte("passphrase"))
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ssh.MarshalPrivateKey(ecKey, "")
	if err != nil {
		t.Fatal(err)
	}
	halves := append(ed25519.PrivateKey{}, key...)
	halves[ed25519.SeedSize] ^= 1
	mixed, err := ssh.MarshalPrivateKey(halves, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text []byte
		want []string
	}{
		"empty":      {nil, []string{"empty", "remove it"}},
		"rubbish":    {[]byte("rubbish"), []string{"not a private key", "restore it"}},
		"encrypted":  {pem.EncodeToMemory(encrypted), []string{"encrypted", "ssh-keygen -p"}},
		"ECDSA":      {pem.EncodeToMemory(ec), []string{"ecdsa", "Ed25519", "wanderd keygen"}},
		"mismatched": {pem.EncodeToMemory(mixed), []string{"do not match", "restore it"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir())
			path := filepath.Join(d.Path(), nodeKeyName)
			if err := os.WriteFile(path, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := d.NodeKey()
			says(t, err, append(c.want, path)...)
		})
	}
}

func TestANodeKeyThatOthersCanReadIsRefused(t *testing.T) {
	d := open(t, t.TempDir())
	if _, _, err := d.NodeKey(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.Path(), nodeKeyName)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	_, _, err := d.NodeKey()
	says(t, err, path, "0640", "chmod 600 "+path)
}
