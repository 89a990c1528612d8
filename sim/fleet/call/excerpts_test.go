package call

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/sim/trace"
)

var update = flag.Bool("update", false, "write the diagram in docs/protocol.md")

func told(t *testing.T, name string, f trace.Format) string {
	t.Helper()
	s, err := trace.Find(Excerpts(), name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryExcerptIsShortAndTheSameEachTime(t *testing.T) {
	for _, s := range Excerpts() {
		for _, f := range []trace.Format{trace.FormatText, trace.FormatMermaid} {
			once, again := told(t, s.Name, f), told(t, s.Name, f)
			if once != again {
				t.Errorf("%s, %s: written twice, it is two excerpts", s.Name, f)
			}
			if n := strings.Count(once, "\n"); n < 10 || n > 80 {
				t.Errorf("%s, %s: %d lines are not what somebody reads on a page:\n%s", s.Name, f, n, once)
			}
		}
	}
}

// What a message says is in its trace: who waits and for how long, when to call again, who holds, and who is a home.
func TestATraceTellsWhatTheMessagesSay(t *testing.T) {
	text := told(t, "call", trace.FormatText)
	for _, want := range []string{
		"a is wanted", "-> b Call(h1 waits 0s)", "-> a Queued(h1 again in 8s T1#2 holder c home b)",
		"-> c Next(h2 T1#2 waits: 0s)", "guarded by c b d", "RUN T1#3",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if text := told(t, "silent", trace.FormatText); !strings.Contains(text, "revived T1#1.") {
		t.Errorf("no home revives the token:\n%s", text)
	}
}

// A semicolon ends a line, and a number sign begins a comment.
func TestADiagramHoldsNothingThatMermaidTakesForItsOwn(t *testing.T) {
	for seed := uint64(1); seed <= deep.Of[uint64](5, 5, 20); seed++ {
		var b bytes.Buffer
		s := Draw(seed)
		if err := s.Explore(trace.NewDiagram(&b, Words())); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexAny(b.String(), "#;"); i >= 0 {
			t.Fatalf("seed %d: %q", seed, b.String()[max(0, i-40):i+1])
		}
	}
}

// The picture of a call in docs/protocol.md is what the machines do today. With -update it is rewritten, between its
// marks.
func TestThePageShowsACall(t *testing.T) {
	const name, begin, end = "../../../docs/protocol.md", "<!-- call:begin -->", "<!-- call:end -->"
	want := fmt.Sprintf("\n```%s\n%s```\n", trace.FormatMermaid, told(t, "call", trace.FormatMermaid))
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), begin)
	got, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("the page has no place for the call: put %s and %s there", begin, end)
	}
	if *update && got != want {
		if err := os.WriteFile(name, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("the page is not true any longer (-page +run); rewrite it with "+
			"go test ./sim/fleet/call -run Page -update\n%s", d)
	}
}
