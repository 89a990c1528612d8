package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/report"
)

// An interrupt at once leads to empty tables, not to a crash.
func TestEveryExperimentSurvivesBeingCancelledAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, page := range experimentPages() {
		for _, e := range page.Experiments {
			if e.Title == "" || e.Source == "" || e.Shows == "" || e.Against == "" {
				t.Errorf("%s does not say what it shows, or where that is published: %+v", e.Name, e)
			}
			r, err := e.Run(ctx, study.Options{})
			if !errors.Is(err, context.Canceled) || r.Runs != 0 {
				t.Errorf("%s: %d runs, %v", e.Name, r.Runs, err)
			}
			for _, f := range []report.Format{report.Text, report.Markdown, report.CSV} {
				if s := r.Render(f); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
					t.Errorf("%s: %s", e.Name, s)
				}
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
		}
	}
}

// Texts are changed in a page's template. The page in the docs changes with the next run of its experiments, or by
// hand, to the same words.
func TestThePagesInTheDocsHaveTheWordsOfTheirTemplates(t *testing.T) {
	for _, page := range experimentPages() {
		name := filepath.Join("..", "..", "..", "docs", page.Name+".md")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		wants := []string{"# " + page.Title + "\n\n" + page.Intro + "\n"}
		for _, e := range page.Experiments {
			wants = append(wants, fmt.Sprintf("\n## %s\n\n**%s** (%s). %s\n\n%s: ", e.Name, e.Title, e.Source, e.Shows,
				e.Against))
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
}

func TestASignalEndsEveryExperiment(t *testing.T) {
	for _, line := range []string{"run random-access", "run --all"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cli.SignalError(syscall.SIGTERM))
		var out, complaints bytes.Buffer
		p := program{stdout: &out, stderr: &complaints, now: time.Now}
		if code := p.run(ctx, strings.Fields(line)); code != cli.ExitSignal+int(syscall.SIGTERM) {
			t.Errorf("%s: exit code %d", line, code)
		}
		if !strings.Contains(complaints.String(), "terminated") {
			t.Errorf("%s: %s", line, complaints.String())
		}
	}
}
