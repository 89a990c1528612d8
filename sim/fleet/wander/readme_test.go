package wander_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/trace"
)

// TestTheReadmeShowsWhatHappens checks that the runs in the README and in docs/protocol.md are what the machines do
// today. With -update it rewrites them, between their marks.
func TestTheReadmeShowsWhatHappens(t *testing.T) {
	for _, shown := range []struct {
		page, mark, excerpt string
		format              trace.Format
	}{
		{"README.md", "trace", "round", trace.FormatText},
		{"docs/protocol.md", "diagram", "lost", trace.FormatMermaid},
	} {
		t.Run(shown.mark, func(t *testing.T) {
			want := fmt.Sprintf("\n```%s\n%s```\n", shown.format, told(t, shown.excerpt, shown.format))
			name := "../../../" + shown.page
			page, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			begin, end := "<!-- "+shown.mark+":begin -->", "<!-- "+shown.mark+":end -->"
			before, rest, begins := strings.Cut(string(page), begin)
			got, after, ends := strings.Cut(rest, end)
			if !begins || !ends {
				t.Fatalf("%s has no place for the %s: put %s and %s there", shown.page, shown.mark, begin, end)
			}
			if *update && got != want {
				if err := os.WriteFile(name, []byte(before+begin+want+end+after), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(got, want); d != "" {
				t.Errorf("%s is not true any longer (-page +run); rewrite it with "+
					"go test ./sim/fleet/wander -run Readme -update\n%s", shown.page, d)
			}
		})
	}
}

func told(t *testing.T, name string, f trace.Format) string {
	t.Helper()
	s, err := trace.Find(wandering.Excerpts(), name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
