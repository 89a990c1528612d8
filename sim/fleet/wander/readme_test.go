package wander_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/tell"
)

const readme = "../../../README.md"

// TestTheReadmeShowsWhatHappens holds that the two runs in the README are what the machines do today; with -update they are
// written anew, between their marks.
func TestTheReadmeShowsWhatHappens(t *testing.T) {
	for _, shown := range []struct {
		mark, story string
		format      tell.Format
	}{
		{"trace", "round", tell.FormatText},
		{"diagram", "lost", tell.FormatMermaid},
	} {
		t.Run(shown.mark, func(t *testing.T) {
			want := fmt.Sprintf("\n```%s\n%s```\n", shown.format, told(t, shown.story, shown.format))
			page, err := os.ReadFile(readme)
			if err != nil {
				t.Fatal(err)
			}
			begin, end := "<!-- "+shown.mark+":begin -->", "<!-- "+shown.mark+":end -->"
			before, rest, begins := strings.Cut(string(page), begin)
			got, after, ends := strings.Cut(rest, end)
			if !begins || !ends {
				t.Fatalf("README.md has no place for the %s: put %s and %s where it is to be", shown.mark, begin, end)
			}
			if *update && got != want {
				if err := os.WriteFile(readme, []byte(before+begin+want+end+after), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(got, want); d != "" {
				t.Errorf("README.md is not true any longer (-page +run); write it anew with go test ./sim/fleet/wander -run Readme -update\n%s", d)
			}
		})
	}
}

func told(t *testing.T, name string, f tell.Format) string {
	t.Helper()
	s, err := wandering.FindStory(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Tell(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
