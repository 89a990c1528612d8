package agent

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// scrape asks an agent for its metrics.
func (w *world) scrape(name string) string {
	answer := httptest.NewRecorder()
	source{w.agents[name].Agent}.Metrics().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	return answer.Body.String()
}

func TestMetricsCountWhatHasHappened(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		begun := time.Now()
		w.start("a", AloneRun)
		w.until("the third run", 10*time.Minute, func() bool { return len(w.runs(begun)) == 3 })
		text := w.scrape("a")
		for _, want := range []string{
			`wanderd_runs_total{gate="default",result="ok"} 2`,
			`wanderd_running{gate="default"} 1`,
			`wanderd_token_held{gate="default"} 1`,
			`wanderd_tokens_taken_total{gate="default",how="made"} 1`,
			`wanderd_run_duration_seconds_sum{gate="default"} 8`,
			`wanderd_wait_seconds_count{gate="default"} 2`,
			`wanderd_members 1`,
		} {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("no line %q", want)
			}
		}
		if t.Failed() {
			t.Log(text)
		}
	})
}
