package wander_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/trace"
)

func TestEveryExcerptIsShortAndTheSameEachTime(t *testing.T) {
	for _, s := range wandering.Excerpts() {
		for _, f := range []trace.Format{trace.FormatText, trace.FormatMermaid} {
			once, again := told(t, s.Name, f), told(t, s.Name, f)
			if once != again {
				t.Errorf("%s, %s: written twice, it is two excerpts", s.Name, f)
			}
			if n := strings.Count(once, "\n"); n < 10 || n > 70 {
				t.Errorf("%s, %s: %d lines are not what somebody reads on a page:\n%s", s.Name, f, n, once)
			}
		}
	}
}

// A semicolon ends a line, and a number sign begins a comment.
func TestADiagramHoldsNothingThatMermaidTakesForItsOwn(t *testing.T) {
	for seed := uint64(1); seed <= deep.Of[uint64](5, 5, 20); seed++ {
		var b bytes.Buffer
		s := wandering.Draw(seed)
		s.Explore(trace.NewDiagram(&b, wandering.Words()))
		if i := strings.IndexAny(b.String(), "#;"); i >= 0 {
			t.Fatalf("seed %d: %q", seed, b.String()[max(0, i-40):i+1])
		}
	}
}

func TestABarThatEndsInADiagramHasBegun(t *testing.T) {
	ended := 0
	for seed := uint64(1); seed <= deep.Of[uint64](5, 5, 20); seed++ {
		var b bytes.Buffer
		s := wandering.Draw(seed)
		s.Explore(trace.NewDiagram(&b, wandering.Words()))
		open := map[string]bool{}
		for line := range strings.Lines(b.String()) {
			verb, who, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case verb == "activate" && open[who] || verb == "deactivate" && !open[who]:
				t.Fatalf("seed %d: %s", seed, line)
			case verb == "activate":
				open[who] = true
			case verb == "deactivate":
				ended++
				delete(open, who)
			}
		}
	}
	if ended == 0 {
		t.Error("no operation has ended")
	}
}

func TestAnExcerptThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, s := range wandering.Excerpts() {
		for _, f := range []trace.Format{trace.FormatText, trace.FormatMermaid} {
			if err := s.Write(full{}, f); !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("%s, %s: %v", s.Name, f, err)
			}
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestAnUnknownNameIsAnsweredWithTheKnownOnes(t *testing.T) {
	_, err := trace.Find(wandering.Excerpts(), "ring")
	if err == nil || !strings.Contains(err.Error(), "round or lost") {
		t.Errorf("excerpt: %v", err)
	}
	if _, err := trace.ParseFormat("png"); err == nil || !strings.Contains(err.Error(), "text or mermaid") {
		t.Errorf("format: %v", err)
	}
}
