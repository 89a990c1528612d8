package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certify gives nodes certificates of an authority, and returns the file of known hosts in which it stands.
func (f *fleet) certify(nodes []*node) (knownHosts string) {
	f.t.Helper()
	at := func(name string) string { return filepath.Join(f.dir, name) }
	keygen := func(args ...string) string {
		f.t.Helper()
		out, err := exec.Command(program(f.t), append([]string{"keygen"}, args...)...).CombinedOutput()
		if err != nil {
			f.t.Fatalf("keygen: %v\n%s", err, out)
		}
		return string(out)
	}
	var line string
	for text := range strings.Lines(keygen("--name", "*", at("ca"))) {
		if strings.HasPrefix(text, "*") {
			line = text
		}
	}
	if err := os.WriteFile(at("known_hosts"), []byte("@cert-authority "+line), 0o600); err != nil {
		f.t.Fatal(err)
	}
	for _, n := range nodes {
		keygen("--sign-with", at("ca"), "--name", n.name, "--state-dir", n.state)
	}
	return at("known_hosts")
}

// Whoever has the secret, and no trusted key, is alone; so is a member within five seconds of the line that revokes it.
func TestOnlyTrustedKeysTakePartUntilTheyAreRevoked(t *testing.T) {
	f := newFleet(t, 5, "--skip", "250ms", "--op", "200ms", "--min-interval", "1s")
	known := f.certify(f.nodes[:4])
	for _, n := range f.nodes[:4] {
		n.args = []string{"--trust", "known_hosts", "--known-hosts", known}
	}
	f.start()
	for _, n := range f.nodes[:4] {
		until(t, "four see each other", func() bool { s, ok := n.status(); return ok && s.Members == 4 })
	}
	revoked := f.nodes[3]
	public, err := exec.Command("ssh-keygen", "-y", "-f", filepath.Join(revoked.state, "node_key")).Output()
	if err != nil {
		t.Skip("no ssh-keygen")
	}
	file, err := os.OpenFile(known, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("@revoked * " + string(public)); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for _, n := range f.nodes[:3] {
		until(t, "it is out", func() bool { s, ok := n.status(); return ok && s.Members == 3 })
	}
	t.Logf("out after %v", time.Since(begun))
	before := by(f.runs(), "m1")
	until(t, "the others go on", func() bool { return by(f.runs(), "m1") > before+2 })
	for _, n := range f.nodes[:3] {
		if s, ok := n.status(); !ok || s.Members != 3 {
			t.Errorf("%s sees %d members", n.name, s.Members)
		}
	}
}
