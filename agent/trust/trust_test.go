package trust

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/wanderd/wanderd/membership/identity"
)

func keyOf(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func publicOf(seed byte) ed25519.PublicKey { return keyOf(seed).Public().(ed25519.PublicKey) }

func lineOf(t testing.TB, names string, seed byte) string {
	t.Helper()
	line, err := Line(names, publicOf(seed))
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// certify makes a certificate of key 1 by key 9, after it has been changed.
func certify(t testing.TB, change func(*ssh.Certificate)) []byte {
	t.Helper()
	authority, err := ssh.NewSignerFromKey(keyOf(9))
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(publicOf(1))
	if err != nil {
		t.Fatal(err)
	}
	c := &ssh.Certificate{
		Key: public, CertType: ssh.HostCert, ValidPrincipals: []string{"m1"}, ValidBefore: ssh.CertTimeInfinity,
	}
	change(c)
	if err := c.SignCert(zeros{}, authority); err != nil {
		t.Fatal(err)
	}
	return c.Marshal()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestKeysAreGoodForTheNamesOfTheirLine(t *testing.T) {
	hashed := "|1|c2FsdA==|" // of m1 with the salt "salt"
	text := lineOf(t, "m1,m2", 1) + "# a comment\n\n" + lineOf(t, "web-*,!web-9", 2) + lineOf(t, "m?", 3) +
		lineOf(t, "*", 4) + "@revoked m7 " +
		strings.SplitN(lineOf(t, "x", 4), " ", 2)[1]
	l, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		key  byte
		good bool
	}{
		{"m1", 1, true},
		{"m2", 1, true},
		{"m3", 1, false},
		{"M1", 1, false},
		{"web-1", 2, true},
		{"web-9", 2, false},
		{"web", 2, false},
		{"m9", 3, true},
		{"m10", 3, false},
		{"m1", 2, false},
		{"m1", 4, false},
		{"m1", 5, false},
	} {
		if _, err := l.check(c.name, publicOf(c.key), nil, time.Now(), new(proven)); (err == nil) != c.good {
			t.Errorf("%s with key %d: %v", c.name, c.key, err)
		}
	}
	if _, err := parse([]byte(hashed + "AAAA " + strings.SplitN(lineOf(t, "x", 1), " ", 2)[1])); err != nil {
		t.Error(err)
	}
}

func TestACertificateIsForOneHostOfThatName(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var p proven // of all files: a certificate that one file has found good may be refused by another
	authority := "@cert-authority m* " + strings.SplitN(lineOf(t, "x", 9), " ", 2)[1]
	revokedKey, revokedAuthority := "@revoked * "+strings.SplitN(lineOf(t, "x", 1), " ", 2)[1],
		"@revoked * "+strings.SplitN(lineOf(t, "x", 9), " ", 2)[1]
	other := strings.Replace(authority, "m*", "other", 1)
	for _, c := range []struct {
		why    string
		text   string
		name   string
		change func(*ssh.Certificate)
	}{
		{"", authority, "m1", func(*ssh.Certificate) {}},
		{"", authority, "m1", func(c *ssh.Certificate) { c.ValidBefore = uint64(now.Unix()) + 1 }},
		{"expired", authority, "m1", func(c *ssh.Certificate) { c.ValidBefore = uint64(now.Unix()) - 1 }},
		{"not yet valid", authority, "m1", func(c *ssh.Certificate) { c.ValidAfter = uint64(now.Unix()) + 60 }},
		{"must be for \"m2\" alone", authority, "m2", func(*ssh.Certificate) {}},
		{"must be for \"m1\" alone", authority, "m1", func(c *ssh.Certificate) {
			c.ValidPrincipals = []string{"m1", "m2"}
		}},
		{"must be for \"m1\" alone", authority, "m1", func(c *ssh.Certificate) { c.ValidPrincipals = nil }},
		{"not of a host", authority, "m1", func(c *ssh.Certificate) { c.CertType = ssh.UserCert }},
		{"another key", authority, "m1", func(c *ssh.Certificate) { c.Key, _ = ssh.NewPublicKey(publicOf(2)) }},
		{"unsupported critical option", authority, "m1", func(c *ssh.Certificate) {
			c.CriticalOptions = map[string]string{"x": "y"}
		}},
		{"revoked", authority + revokedKey, "m1", func(*ssh.Certificate) {}},
		{"signed by a revoked key", authority + revokedAuthority, "m1", func(*ssh.Certificate) {}},
		{"no line gives", other, "m1", func(*ssh.Certificate) {}},
	} {
		l, err := parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.check(c.name, publicOf(1), certify(t, c.change), now, &p)
		if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%v, want %q", err, c.why)
		}
	}
	l, _ := parse([]byte(authority))
	if _, err := l.check("m1", publicOf(1), nil, now, &p); !errors.Is(err, identity.ErrNoCertificate) {
		t.Errorf("without a certificate: %v", err)
	}
	forged := certify(t, func(*ssh.Certificate) {})
	forged[len(forged)-1] ^= 1
	if _, err := l.check("m1", publicOf(1), forged, now, &p); err == nil {
		t.Error("a forged certificate is good")
	}
	until, err := l.check("m1", publicOf(1), certify(t, func(c *ssh.Certificate) {
		c.ValidBefore = uint64(now.Unix()) + 60
	}), now, &p)
	if err != nil || !until.Equal(now.Add(time.Minute)) {
		t.Errorf("good until %v, %v", until, err)
	}
}

// A certificate that was good stays good until the time in it, although its signature is not checked again.
func TestAProvenCertificateIsGoodForItsTime(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l, err := parse([]byte("@cert-authority m* " + strings.SplitN(lineOf(t, "x", 9), " ", 2)[1]))
	if err != nil {
		t.Fatal(err)
	}
	certificate := certify(t, func(c *ssh.Certificate) {
		c.ValidAfter, c.ValidBefore = uint64(now.Unix()), uint64(now.Unix())+60
	})
	var p proven
	for _, c := range []struct {
		after time.Duration
		good  bool
	}{{0, true}, {59 * time.Second, true}, {time.Minute, false}, {-time.Second, false}, {30 * time.Second, true}} {
		if _, err := l.check("m1", publicOf(1), certificate, now.Add(c.after), &p); (err == nil) != c.good ||
			p.find(sha256.Sum256(certificate)) == nil {
			t.Errorf("after %v: %v", c.after, err)
		}
	}
}

// Signatures that were never good are not remembered, and only a bounded number of the others is.
func TestOnlyGoodCertificatesAreRemembered(t *testing.T) {
	l, err := parse([]byte("@cert-authority m* " + strings.SplitN(lineOf(t, "x", 9), " ", 2)[1]))
	if err != nil {
		t.Fatal(err)
	}
	var p proven
	for i := range provenMax + 2 {
		good := certify(t, func(c *ssh.Certificate) { c.Serial = uint64(i) })
		bad := bytes.Clone(good)
		bad[len(bad)-1] ^= 1
		if _, err := l.check("m1", publicOf(1), bad, time.Now(), &p); err == nil {
			t.Fatal("a forged certificate is good")
		}
		if _, err := l.check("m1", publicOf(1), good, time.Now(), &p); err != nil {
			t.Fatal(err)
		}
		if len(p.of) != i%provenMax+1 {
			t.Fatalf("%d certificates are remembered after %d", len(p.of), i+1)
		}
	}
}

func BenchmarkJudgeAgain(b *testing.B) {
	l, err := parse([]byte("@cert-authority m* " + strings.SplitN(lineOf(b, "x", 9), " ", 2)[1]))
	if err != nil {
		b.Fatal(err)
	}
	var p proven
	key, certificate := publicOf(1), certify(b, func(*ssh.Certificate) {})
	for b.Loop() {
		if _, err := l.check("m1", key, certificate, time.Now(), &p); err != nil {
			b.Fatal(err)
		}
	}
}

func TestALineThatCannotBeReadIsAnError(t *testing.T) {
	good := strings.SplitN(lineOf(t, "x", 1), " ", 2)[1]
	for _, line := range []string{
		"m1", "m1 ssh-ed25519", "m1 ssh-ed25519 AAAA", "@unknown m1 " + good, "@revoked " + good, "!,m1 " + good,
		"|2|x|y " + good, "|1|x " + good,
	} {
		if _, err := parse([]byte("# first\n" + line)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// An unverified host writes the certificate that it shows; the reason of its refusal is a line of the log.
func TestTheReasonOfARefusalIsShort(t *testing.T) {
	l, err := parse([]byte("@cert-authority * " + strings.SplitN(lineOf(t, "x", 9), " ", 2)[1]))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("\x1b", 4000)
	for what, change := range map[string]func(*ssh.Certificate){
		"one name":       func(c *ssh.Certificate) { c.ValidPrincipals = []string{long} },
		"many names":     func(c *ssh.Certificate) { c.ValidPrincipals = strings.SplitAfter(long, "\x1b") },
		"a long option":  func(c *ssh.Certificate) { c.CriticalOptions = map[string]string{long: ""} },
		"a long comment": func(c *ssh.Certificate) { c.KeyId, c.CertType = long, ssh.UserCert },
	} {
		if _, err := l.check("m1", publicOf(1), certify(t, change), time.Now(), new(proven)); err == nil ||
			len(err.Error()) > 500 {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAFileIsReadAgainWhenItHasChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known_hosts")
	write := func(text string, at time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Unix(1_800_000_000, 0)
	write(lineOf(t, "m1", 1), at)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := f.Refresh(); changed || err != nil {
		t.Errorf("unchanged: %v, %v", changed, err)
	}
	write("nonsense", at.Add(time.Second))
	if changed, err := f.Refresh(); changed || err == nil {
		t.Errorf("nonsense: %v, %v", changed, err)
	}
	if _, err := f.Check("m1", publicOf(1), nil); err != nil {
		t.Errorf("a defect has ended what was in force: %v", err)
	}
	write("# an editor has emptied it, and writes it\n", at.Add(1500*time.Millisecond))
	if changed, err := f.Refresh(); changed || !errors.Is(err, errNobody) {
		t.Errorf("nobody: %v, %v", changed, err)
	}
	write(lineOf(t, "m1", 2), at.Add(2*time.Second))
	if changed, err := f.Refresh(); !changed || err != nil {
		t.Errorf("changed: %v, %v", changed, err)
	}
	if _, err := f.Check("m1", publicOf(1), nil); err == nil {
		t.Error("the line is gone, and the key is trusted")
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil {
		t.Error("others can write to the file, and it is trusted")
	}
}

// The cause that keeps a file from being read may end although the file stays as it is.
func TestAFileThatCouldNotBeReadIsReadAsSoonAsItCan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trust")
	path := filepath.Join(dir, "known_hosts")
	at := time.Unix(1_800_000_000, 0)
	write := func(text string) {
		t.Helper()
		at = at.Add(time.Second)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	mode := func(m os.FileMode) {
		t.Helper()
		if err := os.Chmod(dir, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(lineOf(t, "m1", 1))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	write(lineOf(t, "m1", 2))
	mode(0o777)
	for range 2 {
		if changed, err := f.Refresh(); changed || err == nil {
			t.Errorf("others can replace it: %v, %v", changed, err)
		}
	}
	mode(0o700)
	if changed, err := f.Refresh(); !changed || err != nil {
		t.Errorf("the directory is mended: %v, %v", changed, err)
	}
	if _, err := f.Check("m1", publicOf(1), nil); err == nil {
		t.Error("the line is gone, and the key is trusted")
	}
}

// The files of ssh-keygen work as they are: keys, hashed names, certificates of authorities of each kind.
func TestTheFilesOfSSHKeygen(t *testing.T) {
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("no ssh-keygen")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	do := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen %v: %v\n%s", args, err, out)
		}
	}
	read := func(name string) []byte {
		t.Helper()
		b, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	do("-q", "-t", "ed25519", "-N", "", "-f", at("host"))
	public, _, _, _, err := ssh.ParseAuthorizedKey(read("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	key := public.(ssh.CryptoPublicKey).CryptoPublicKey().(ed25519.PublicKey)
	if err := os.WriteFile(at("known"), append([]byte("m1 "), read("host.pub")...), 0o600); err != nil {
		t.Fatal(err)
	}
	do("-q", "-H", "-f", at("known"))
	hashed, err := parse(read("known"))
	if err != nil || !bytes.HasPrefix(read("known"), []byte("|1|")) {
		t.Fatalf("%s: %v", read("known"), err)
	}
	if _, err := hashed.check("m1", key, nil, time.Now(), new(proven)); err != nil {
		t.Error(err)
	}
	if _, err := hashed.check("m2", key, nil, time.Now(), new(proven)); err == nil {
		t.Error("a hashed name is good for another one")
	}
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		do("-q", "-t", kind, "-N", "", "-f", at(kind))
		do("-q", "-s", at(kind), "-h", "-I", "x", "-n", "m1", "-V", "-1m:+1h", at("host.pub"))
		l, err := parse(append([]byte("@cert-authority * "), read(kind+".pub")...))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := parseCertificate(read("host-cert.pub"))
		if err != nil {
			t.Fatal(err)
		}
		if until, err := l.check("m1", key, *raw, time.Now(), new(proven)); err != nil ||
			time.Until(until) > time.Hour {
			t.Errorf("%s: %v, %v", kind, until, err)
		}
		ours, err := Sign(read(kind), key, "m1")
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = parseCertificate(ours); err != nil {
			t.Fatal(err)
		}
		if until, err := l.check("m1", key, *raw, time.Now(), new(proven)); err != nil || !until.IsZero() {
			t.Errorf("%s, signed here: %v, %v", kind, until, err)
		}
	}
}

// FuzzKnownHosts: no file and no certificate makes a key trusted that no line names.
func FuzzKnownHosts(f *testing.F) {
	f.Add([]byte(lineOf(f, "m1,web-*,!web-9,m?", 2)), certify(f, func(*ssh.Certificate) {}))
	f.Add([]byte("@cert-authority m* "+strings.SplitN(lineOf(f, "x", 8), " ", 2)[1]),
		certify(f, func(c *ssh.Certificate) { c.ValidPrincipals = nil }))
	f.Add([]byte("@revoked * "+strings.SplitN(lineOf(f, "x", 1), " ", 2)[1]+"|1|c2FsdA==|AAAA "+
		strings.SplitN(lineOf(f, "x", 3), " ", 2)[1]), []byte("x"))
	itself, authority := []byte(strings.Fields(lineOf(f, "x", 1))[2]), []byte(strings.Fields(lineOf(f, "x", 9))[2])
	f.Fuzz(func(t *testing.T, text, certificate []byte) {
		l, err := parse(text)
		if err != nil {
			return
		}
		until, err := l.check("m1", publicOf(1), certificate, time.Unix(1_800_000_000, 0), new(proven))
		if err == nil && !bytes.Contains(text, itself) && !bytes.Contains(text, authority) {
			t.Errorf("trusted until %v by %q", until, text)
		}
	})
}
