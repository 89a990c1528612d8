package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
)

// A host with a longer lease than the others, as while an operator changes that from host to host, keeps nobody from
// running, and says why it does not run itself.
func TestAHostWithALongerLeaseKeepsNobodyWaiting(t *testing.T) {
	deep.Only(t, "waits for leases")
	t.Parallel()
	bothStrict(t, func(t *testing.T, f *fleet) {
		text, err := os.ReadFile(f.args[1])
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(f.dir, "longer.toml")
		if err := os.WriteFile(file, append(text, "lease = \"6s\"\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		last := f.nodes[2]
		last.kill()
		last.args = []string{"--config", file}
		last.start()
		last.takesPart()
		path := f.witness()
		last.exec("--wait", "10m", "--", path).begin()
		const why = "lease = 6s is longer than allowed by m1, m2: 3s"
		until(t, "the last one says why it waits", func() bool {
			s, ok := last.status()
			return ok && strings.Contains(s.Gates[0].NotRunning, why)
		})
		for range 3 {
			for _, n := range f.nodes[:2] {
				if c := n.exec("--", path); c.code() != 0 {
					t.Errorf("%s: %s", n.name, c.errs.String())
				}
			}
		}
		last.logged("lease_refused")
		if numbers, _ := f.witnessed(); len(numbers) != 6 {
			t.Errorf("%d commands have run", len(numbers))
		}
		last.kill()
		last.args = nil
		last.start()
		last.takesPart()
		last.exec("--", path).wantCode(0, "")
	})
}
