package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"runtime"
	"slices"
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
	d := distribution{name: "wanderd_took", help: "How long.", bounds: ranBounds()}
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

// A token that is called comes within milliseconds, so that the shortest bucket of a run would have all waits.
func TestWaitsHaveBucketsOfMilliseconds(t *testing.T) {
	ends := waitBounds()
	if len(ends) > mostBounds || !slices.IsSorted(ends) || ends[0] > 0.005 || ends[len(ends)-1] < 3600 {
		t.Errorf("%v", ends)
	}
	for _, end := range ranBounds() {
		if !slices.Contains(ends, end) {
			t.Errorf("%v is no bucket of waits, and queries of both may name it", end)
		}
	}
	m := New(func(context.Context) (control.Status, error) { return control.Status{}, nil })
	m.Commands.Waited("g", 8*time.Millisecond)
	_, text := scrape(m)
	for _, want := range []string{`{gate="g",le="0.00625"} 0`, `{gate="g",le="0.0125"} 1`, `{gate="g",le="+Inf"} 1`} {
		if !strings.Contains(text, "\nwanderd_command_wait_seconds_bucket"+want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// Who waits is shown as far as it is known here: callers of this host everywhere, members only where there is a queue.
func TestWhoWaitsIsShown(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	idle := control.Gate{Name: "idle", Whereabouts: control.Whereabouts{Called: &control.Called{}}}
	busy := control.Gate{
		Name: "busy", Callers: []control.Caller{{Running: true, Since: at(5)}, {Since: at(8)}, {Since: at(7)}},
		Sent: map[string]uint64{"Call": 3}, Received: map[string]uint64{"Queued": 2},
		Whereabouts: control.Whereabouts{Called: &control.Called{Queue: &control.Queue{
			As: control.AsHome, Waiters: 12, Oldest: []control.Waiter{{Since: at(6)}, {Since: at(9)}},
		}}},
	}
	_, text := scrape(New(func(context.Context) (control.Status, error) {
		return control.Status{Gates: []control.Gate{idle, busy}}, nil
	}))
	for _, want := range []string{
		`wanderd_callers_waiting{gate="busy"} 2`, `wanderd_callers_waiting{gate="idle"} 0`,
		`wanderd_oldest_caller_timestamp_seconds{gate="busy"} 7`, `wanderd_waiters{gate="busy"} 12`,
		`wanderd_oldest_waiter_timestamp_seconds{gate="busy"} 6`,
		`wanderd_messages_sent_total{gate="busy",kind="Call"} 3`,
		`wanderd_messages_received_total{gate="busy",kind="Queued"} 2`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("no line %q in\n%s", want, text)
		}
	}
	for _, unknown := range []string{
		`wanderd_waiters{gate="idle"}`, `wanderd_oldest_caller_timestamp_seconds{gate="idle"}`,
	} {
		if strings.Contains(text, unknown) {
			t.Errorf("%s is not known, and is shown", unknown)
		}
	}
}

func TestHostsThatAreAwayUnderAKeptGrantAreCounted(t *testing.T) {
	gone, back := time.Unix(5, 0), time.Unix(8, 0)
	for _, c := range []struct {
		kept []control.Kept
		want [2]int
	}{
		{nil, [2]int{0, 0}},
		{[]control.Kept{{Self: true}}, [2]int{1, 0}},
		{[]control.Kept{{}}, [2]int{0, 0}},
		{[]control.Kept{{AwaySince: gone}, {Slot: 1, AwaySince: gone}, {Slot: 2, Self: true}}, [2]int{1, 2}},
		{[]control.Kept{{AwaySince: gone, BackSince: back}}, [2]int{0, 0}},
	} {
		_, text := scrape(New(func(context.Context) (control.Status, error) {
			return control.Status{Gates: []control.Gate{{Name: "g", Kept: c.kept}}}, nil
		}))
		for i, name := range []string{"wanderd_grant_kept", "wanderd_hosts_away"} {
			if want := fmt.Sprintf("\n%s{gate=\"g\"} %d\n", name, c.want[i]); !strings.Contains(text, want) {
				t.Errorf("%+v: no %q in\n%s", c.kept, want, text)
			}
		}
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
