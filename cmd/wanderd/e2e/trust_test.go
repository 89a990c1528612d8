package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
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

// BenchmarkRevocation measures from the line that revokes a host until nobody has it: it is no member that others count, no token's holder, and in no
// gate.
func BenchmarkRevocation(b *testing.B) {
	for _, size := range []int{5, 200} {
		b.Run(fmt.Sprintf("%d-hosts", size), func(b *testing.B) {
			for b.Loop() {
				first, last := revokeOne(b, size)
				b.ReportMetric(first.Seconds(), "s-first")
				b.ReportMetric(last.Seconds(), "s-last")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// revokeOne starts a fleet and revokes its last host. It returns when the first of the others was without it, and the last.
func revokeOne(b *testing.B, size int) (first, last time.Duration) {
	f := newFleet(b, size, "--min-interval", "10m", "--log-level", "info")
	defer func() {
		for _, n := range f.nodes {
			n.kill()
		}
	}()
	known := f.certify(f.nodes)
	for _, n := range f.nodes {
		n.args = []string{"--trust", "known_hosts", "--known-hosts", known}
	}
	f.startMany()
	revoked, others := f.nodes[size-1], f.nodes[:size-1]
	public, err := exec.Command("ssh-keygen", "-y", "-f", filepath.Join(revoked.state, "node_key")).Output()
	if err != nil {
		b.Skip("no ssh-keygen")
	}
	file, err := os.OpenFile(known, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	_, writeErr := file.WriteString("@revoked * " + string(public))
	if err := errors.Join(writeErr, file.Close()); err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	without := make(chan time.Duration, len(others))
	for _, n := range others {
		go func() {
			for deadline := begun.Add(patience); time.Now().Before(deadline) && !n.isWithout(revoked.name, size-1); {
				time.Sleep(250 * time.Millisecond) // to ask 200 agents is work, too
			}
			without <- time.Since(begun)
		}()
	}
	first = patience
	for range others {
		took := <-without
		first, last = min(first, took), max(last, took)
	}
	return first, last
}

// isWithout reports whether the node and its gate count so many members, and none of that name is among them or holds a token.
func (n *node) isWithout(name string, members int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client := n.control()
	s, err := client.Status(ctx)
	if err != nil || s.Members != members || len(s.Gates) != 1 || s.Gates[0].Members != members || s.Gates[0].Holder == name {
		return false
	}
	all, err := client.Members(ctx)
	return err == nil && !slices.ContainsFunc(all.Members, func(m control.Member) bool {
		return m.Name == name && (m.State == "alive" || m.State == "suspect")
	})
}
