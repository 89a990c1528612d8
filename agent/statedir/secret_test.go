package statedir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestASecretFileIsReadAsItWasMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := WriteNewSecretFile(path); err != nil {
		t.Fatal(err)
	}
	if got := mode(t, path); got != 0o600 {
		t.Errorf("%04o", got)
	}
	secrets, err := ReadSecretFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != secrets[0].Reveal()+"\n" {
		t.Errorf("another secret than in the file: %v", err)
	}
	other := filepath.Join(t.TempDir(), "secret")
	if err := WriteNewSecretFile(other); err != nil {
		t.Fatal(err)
	}
	if second, err := ReadSecretFile(other); err != nil || second[0] == secrets[0] {
		t.Errorf("two secrets are the same, or %v", err)
	}
}

func TestASecretFileThatOthersCanReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := WriteNewSecretFile(path); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []os.FileMode{0o640, 0o604, 0o620, 0o610} {
		if err := os.Chmod(path, bad); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSecretFile(path)
		says(t, err, path, "chmod 600 "+path)
	}
}

func TestSystemdMayLetOthersReadACredential(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "fleet")
	if err := WriteNewSecretFile(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	if _, err := ReadSecretFile(path); err != nil {
		t.Error(err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir+"/fle")
	if _, err := ReadSecretFile(path); err == nil {
		t.Error("a path that only begins like a credential's is taken for one")
	}
	t.Setenv("CREDENTIALS_DIRECTORY", filepath.Join(dir, "sub"))
	if _, err := ReadSecretFile(filepath.Join(dir, "sub", "..", "fleet")); err == nil {
		t.Error("a path that leads out of the credentials is taken for one")
	}
}

func TestAnErrorAboutASecretFileDoesNotContainItsContent(t *testing.T) {
	dir := t.TempDir()
	_, err := ReadSecretFile(filepath.Join(dir, "missing"))
	says(t, err, "missing", "wanderd keygen --secret")
	_, err = ReadSecretFile(dir)
	says(t, err, dir, "directory")

	for _, text := range []string{"", "hunter2", strings.Repeat("hunter2", maxPrivate)} {
		path := filepath.Join(dir, "bad")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = ReadSecretFile(path)
		says(t, err, path)
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
}

func TestASecretFileThatOthersCanReplaceIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc")
	path := filepath.Join(dir, "secret")
	if err := WriteNewSecretFile(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := ReadSecretFile(path)
	says(t, err, "chmod go-w "+dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecretFile(path); err != nil {
		t.Error(err)
	}
	if os.Geteuid() != 0 {
		return // only root can give a file away
	}
	if err := os.Lchown(path, 4242, -1); err != nil {
		t.Fatal(err)
	}
	_, err = ReadSecretFile(path)
	says(t, err, path+" belongs to user 4242", "chown 0 "+path)
}

func TestASecretFileThatIsAPipeIsRefusedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ReadSecretFile(path)
	says(t, err, path, "not a regular file")
}
