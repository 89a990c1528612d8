package metrics

import (
	"context"
	"errors"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// scrape returns the status and the text of an answer.
func scrape(m *Metrics) (code int, text string) {
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	return answer.Code, answer.Body.String()
}

func TestSamplesAreWrittenAsPrometheusReadsThem(t *testing.T) {
	p := page{}
	counts := map[string]uint64{"b": 2, "a": 1}
	sink{
		page: &p, labels: []label{{"gate", "a \"quoted\"\nback\\slash"}},
	}.count("runs_total", "Runs.", "result", counts)
	sink{page: &p}.value("load", "How much.", 0.25)
	d := distribution{name: "wanderd_took", help: "How long."}
	for _, took := range []time.Duration{100 * time.Millisecond, 101 * time.Millisecond, 10 * time.Hour} {
		d.observe("g", took)
	}
	d.write(&p)
	var b strings.Builder
	if err := p.write(&b); err != nil {
		t.Fatal(err)
	}
	want := `# HELP wanderd_load How much.
# TYPE wanderd_load gauge
wanderd_load 0.25
# HELP wanderd_runs_total Runs.
# TYPE wanderd_runs_total counter
wanderd_runs_total{gate="a \"quoted\"\nback\\slash",result="a"} 1
wanderd_runs_total{gate="a \"quoted\"\nback\\slash",result="b"} 2
# HELP wanderd_took How long.
# TYPE wanderd_took histogram
wanderd_took_bucket{gate="g",le="0.1"} 1
wanderd_took_bucket{gate="g",le="0.4"} 2
wanderd_took_bucket{gate="g",le="1.6"} 2
wanderd_took_bucket{gate="g",le="6.4"} 2
wanderd_took_bucket{gate="g",le="25.6"} 2
wanderd_took_bucket{gate="g",le="102.4"} 2
wanderd_took_bucket{gate="g",le="409.6"} 2
wanderd_took_bucket{gate="g",le="1638.4"} 2
wanderd_took_bucket{gate="g",le="6553.6"} 2
wanderd_took_bucket{gate="g",le="26214.4"} 2
wanderd_took_bucket{gate="g",le="+Inf"} 3
wanderd_took_sum{gate="g"} 36000.201
wanderd_took_count{gate="g"} 3
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAnAgentThatDoesNotAnswerIsAnErrorOfTheScrape(t *testing.T) {
	m := New(func(context.Context) (control.Status, error) { return control.Status{}, errors.New("it hangs") })
	if code, text := scrape(m); code != 500 || !strings.Contains(text, "it hangs") {
		t.Errorf("%d: %s", code, text)
	}
}

// Alerts on memory, descriptors and restarts are written for these names, which other programs have, too.
func TestTheProcessIsShownUnderTheUsualNames(t *testing.T) {
	m := New(func(context.Context) (control.Status, error) { return control.Status{}, nil })
	code, text := scrape(m)
	names := []string{
		"go_info", "go_goroutines", "go_gc_duration_seconds_count", "go_memstats_heap_alloc_bytes",
		"go_memstats_next_gc_bytes",
	}
	if runtime.GOOS == "linux" {
		names = append(names, "go_threads", "process_cpu_seconds_total", "process_open_fds", "process_max_fds",
			"process_resident_memory_bytes",
			"process_virtual_memory_bytes", "process_start_time_seconds")
	}
	for _, name := range names {
		_, rest, found := strings.Cut(text, "\n"+name)
		if value, _, _ := strings.Cut(rest, "\n"); code != 200 || !found ||
			strings.HasSuffix(value, " 0") && name != "go_gc_duration_seconds_count" {
			t.Errorf("%d: %s is %q", code, name, value)
		}
	}
}
