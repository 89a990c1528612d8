package wanderd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// linked limits what a program may be built from: no package from the rooms or modules that are not for it, and so many
// lines of our own code.
type linked struct {
	program string
	never   []string
	lines   int
	why     string
}

// linkedPrograms are the programs that packages contain. A feature that needs more lines raises their number in the
// same commit, which gives the reason.
func linkedPrograms() []linked {
	return []linked{
		{
			program: "cmd/wanderd", lines: 62_620, why: "it is on every host",
			never: []string{
				module + "/sim/...", module + "/lab/...", module + "/cmd/wandersim/...", "gonum.org/...",
				"codeberg.org/...", "golang.org/x/image/...",
				"github.com/jedib0t/go-pretty/...", "github.com/guptarohit/asciigraph",
			},
		},
		{
			program: "cmd/wandersim", lines: 55_200, why: "it talks to nobody",
			never: []string{
				module + "/agent/...", module + "/membership/...", module + "/lab/...",
				"github.com/hashicorp/memberlist",
			},
		},
		{
			program: "cmd/hook-guard", lines: 3_500, why: "the guard of each hook waits for what it is built from",
			never: []string{"net", "net/http", "github.com/rs/zerolog"},
		},
	}
}

func TestProgramsAreBuiltFromTheirOwnHouses(t *testing.T) {
	for _, b := range linkedPrograms() {
		lines := 0
		for _, p := range list(t, "-deps", "./"+b.program) {
			if anyHas(b.never, p.ImportPath) {
				t.Errorf("%s is built from %s: %s", b.program, p.ImportPath, b.why)
			}
			for _, name := range p.GoFiles {
				if !strings.HasPrefix(p.ImportPath, module+"/") {
					break
				}
				text, err := os.ReadFile(filepath.Join(p.local(), name))
				if err != nil {
					t.Fatal(err)
				}
				lines += bytes.Count(text, []byte("\n"))
			}
		}
		if lines > b.lines {
			t.Errorf("%s is built from %d lines of ours, and at most %d are allowed: %s", b.program, lines, b.lines,
				b.why)
		}
	}
}
