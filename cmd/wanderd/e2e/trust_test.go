package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// keygen runs "wanderd keygen", and returns the line for known hosts that it prints for a name.
func (f *fleet) keygen(name string, args ...string) (line string) {
	f.t.Helper()
	out, err := exec.Command(program(f.t), append([]string{"keygen", "--name", name}, args...)...).CombinedOutput()
	if err != nil {
		f.t.Fatalf("keygen: %v\n%s", err, out)
	}
	for text := range strings.Lines(string(out)) {
		if strings.HasPrefix(text, name+" ") {
			line = text
		}
	}
	return line
}

// certify gives nodes certificates of an authority, and returns the file of known hosts that names the authority.
func (f *fleet) certify(nodes []*node) (knownHosts string) {
	f.t.Helper()
	authority := filepath.Join(f.dir, "ca")
	line := f.keygen("*", authority)
	for _, n := range nodes {
		f.keygen(n.name, "--sign-with", authority, "--state-dir", n.state)
	}
	return f.writeKnownHosts("@cert-authority " + line)
}

// list gives nodes keys, and returns the file of known hosts that names the keys.
func (f *fleet) list(nodes []*node) (knownHosts string) {
	f.t.Helper()
	var lines strings.Builder
	for _, n := range nodes {
		lines.WriteString(f.keygen(n.name, "--state-dir", n.state))
	}
	return f.writeKnownHosts(lines.String())
}

func (f *fleet) writeKnownHosts(text string) (path string) {
	f.t.Helper()
	path = filepath.Join(f.dir, "known_hosts")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// A host that has the secret but no trusted key is alone; so is a member, within five seconds of the line that revokes
// it.
func TestOnlyTrustedKeysTakePartUntilTheyAreRevoked(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 5, "--skip", "250ms", "--op", "200ms", "--min-interval", "1s")
	known := f.certify(f.nodes[:4])
	for _, n := range f.nodes[:4] {
		n.args = []string{"--trust", "known_hosts", "--known-hosts", known}
	}
	f.start()
	for _, n := range f.nodes[:4] {
		until(t, "four see each other", func() bool { s, ok := n.status(); return ok && s.Members == 4 })
	}
	if s, ok := f.nodes[0].status(); !ok || !s.Gates[0].AskBeforeRun {
		t.Errorf("it trusts keys, and does not ask before it runs: %+v", s.Gates)
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

// BenchmarkRevocation measures from the line that revokes a host until nothing counts it any more: it is no member, no
// token's holder, and in no gate.
func BenchmarkRevocation(b *testing.B) {
	for _, size := range []int{5, 40, 200} {
		for _, known := range []struct {
			by    string
			vouch func(*fleet, []*node) string
		}{{"keys", (*fleet).list}, {"an-authority", (*fleet).certify}} {
			b.Run(fmt.Sprintf("%d-hosts/known-by-%s", size, known.by), func(b *testing.B) {
				for b.Loop() {
					first, last := revokeOne(b, size, known.vouch)
					b.ReportMetric(first.Seconds(), "s-first")
					b.ReportMetric(last.Seconds(), "s-last")
					b.ReportMetric(0, "ns/op")
				}
			})
		}
	}
}

// revokeOne starts a fleet whose file of known hosts is written by vouch, and revokes its last host. It returns when
// the first of the others was without that host, and when the last was.
func revokeOne(b *testing.B, size int, vouch func(*fleet, []*node) string) (first, last time.Duration) {
	f := newFleet(b, size, "--min-interval", "10m", "--log-level", "info")
	defer func() {
		for _, n := range f.nodes {
			n.kill()
		}
	}()
	known := vouch(f, f.nodes)
	for _, n := range f.nodes {
		n.args = []string{"--trust", "known_hosts", "--known-hosts", known}
	}
	begun := time.Now()
	f.startMany()
	used := time.Duration(0)
	for _, n := range f.nodes {
		used += n.processorTime()
	}
	b.Logf("all %d see all after %.2f s, with %.2f s of CPU for each", size, time.Since(begun).
		Seconds(), used.Seconds()/float64(size))
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
	begun = time.Now()
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

// isWithout reports whether the node and its gate count so many members, and none of that name is among them or holds a
// token.
func (n *node) isWithout(name string, members int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client := n.control()
	s, err := client.Status(ctx)
	if err != nil || s.Members != members || len(s.Gates) != 1 || s.Gates[0].Members != members ||
		s.Gates[0].Holder == name {
		return false
	}
	all, err := client.Members(ctx)
	return err == nil && !slices.ContainsFunc(all.Members, func(m control.Member) bool {
		return m.Name == name && (m.State == "alive" || m.State == "suspect")
	})
}

// wanderd runs a command of the program, and returns its output.
func wanderd(t testing.TB, args ...string) (output string) {
	t.Helper()
	out, err := exec.Command(program(t), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("wanderd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The status names a host that has the secret but no line in the known hosts, with the line that it lacks. "keygen
// --show" prints this line on the host itself, and "members --known-hosts" prints the lines of all members.
func TestAHostWithoutALineIsNamedWithTheLine(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--skip", "250ms", "--op", "200ms", "--min-interval", "1s")
	known := f.list(f.nodes[:2])
	for _, n := range f.nodes[:2] {
		n.args = []string{"--trust", "known_hosts", "--known-hosts", known}
	}
	f.start()
	first, third := f.nodes[0], f.nodes[2]
	named := func() string {
		s, _ := first.status()
		for _, w := range s.Warnings {
			if strings.HasPrefix(w.Text, "m3 (") {
				return w.Text
			}
		}
		return ""
	}
	until(t, "it is named", func() bool { return named() != "" })
	line := wanderd(t, "keygen", "--show", "--name", "m3", "--state-dir", third.state)
	if text := named(); !strings.HasPrefix(line, "m3 ssh-ed25519 AAAA") ||
		!strings.HasSuffix(text, "add to the known hosts of all hosts: "+strings.TrimSpace(line)) {
		t.Errorf("the line is %q, and the status says %q", line, text)
	}
	before, err := os.ReadFile(known)
	if err != nil {
		t.Fatal(err)
	}
	f.writeKnownHosts(string(before) + line)
	until(t, "it takes part", func() bool { return first.sees(3) })
	if out := wanderd(t, "members", "--known-hosts", "--state-dir", first.state); out != string(before)+line {
		t.Errorf("the members' lines:\n%s\nwant:\n%s%s", out, before, line)
	}
}

// On a host with the package the state directory belongs to the agent's user. Root can reset a gate there, and the
// files keep their owner.
func TestRootResetsAGateAndTheFilesKeepTheirOwner(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	if os.Geteuid() != 0 {
		t.Skip("it needs root")
	}
	f := newFleet(t, 1)
	f.first()
	n := f.nodes[0]
	n.signal(syscall.SIGTERM)
	n.exits()
	if err := os.Chmod(filepath.Dir(f.dir), 0o755); err != nil { // as /var/lib is
		t.Fatal(err)
	}
	if err := filepath.WalkDir(f.dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}); err != nil {
		t.Fatal(err)
	}
	if out := wanderd(t, "gate", "reset", "default", "--all-stopped", "--state-dir", n.state); !strings.Contains(out,
		"forgot the fencing number") {
		t.Errorf("it says %q", out)
	}
	wanderd(t, "keygen", "--sign-with", filepath.Join(n.state, "node_key"), "--name", "m1", "--state-dir", n.state)
	entries, err := os.ReadDir(n.state)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != nobody {
			t.Errorf("%s belongs to user %d now", entry.Name(), owner)
		}
	}
}
