package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/wire"
)

// A fleet changes its secret while it works: no token is lost, so that no member misses a run.
func TestAFleetChangesItsSecretWhileItWorks(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--skip", "250ms", "--op", "200ms", "--min-interval", "1s")
	read := func(path string) string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before, after := read(f.secret()), ""
	for second := filepath.Join(f.dir, "second"); ; { // for one pair in 256 the file is refused
		if out, err := exec.Command(program(t), "keygen", "--secret", second).CombinedOutput(); err != nil {
			t.Fatalf("keygen: %v\n%s", err, out)
		}
		after = read(second)
		if _, err := wire.ParseSecrets([]byte(before + after)); err == nil {
			break
		}
		if err := os.Remove(second); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range f.nodes {
		own := filepath.Join(f.dir, n.name+".secret")
		n.args = []string{"--secret-file", own}
		if err := os.WriteFile(own, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.start()
	everybodyRuns := func() {
		t.Helper()
		known := f.runs()
		until(t, "everybody runs", func() bool {
			runs := f.runs()
			for _, n := range f.nodes {
				if by(runs, n.name) < by(known, n.name)+2 {
					return false
				}
			}
			return true
		})
	}
	everybodyRuns()
	epoch := f.runs()[len(f.runs())-1].seq >> 32
	for times, step := range []string{before + after, after + before, after} {
		for i, n := range f.nodes {
			next := filepath.Join(f.dir, "next")
			if err := os.WriteFile(next, []byte(step), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(next, filepath.Join(f.dir, n.name+".secret")); err != nil {
				t.Fatal(err)
			}
			until(t, "it reads the file again", func() bool {
				return strings.Count(read(n.log), "read the fleet's secret again") == times+1
			})
			everybodyRuns()
			if step == after+before {
				// Only those that have not come so far seal with the secret that is now the second one here.
				until(t, "status says who", func() bool {
					s, ok := f.nodes[0].status()
					return ok && s.TwoSecrets && len(s.SealedBySecond) == len(f.nodes)-1-i
				})
			}
		}
	}
	runs := f.runs()
	for _, r := range runs {
		if r.seq>>32 != epoch && r.seq>>32 > epoch {
			t.Errorf("run %d of %s is under a token that was made or revived meanwhile", r.seq, r.name)
		}
	}
	if s, ok := f.nodes[0].status(); !ok || s.TwoSecrets || s.Members != len(f.nodes) {
		t.Errorf("at the end: %+v", s)
	}
}
