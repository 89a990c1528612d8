package gate

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/directive"
)

// A hook does not start after StartBy, nor after it was stopped, and then the log has no line that it starts.
func TestAHookDoesNotStartTooLateOrAfterItWasStopped(t *testing.T) {
	started := 0
	env := &Env{Start: func(hook.Spec) (HookRun, error) {
		started++
		run := newPretendRun(hook.Spec{})
		run.done <- hook.Result{}
		return run, nil
	}}
	var log bytes.Buffer
	past, err := history.Open(filepath.Join(t.TempDir(), "history"))
	if err != nil {
		t.Fatal(err)
	}
	g := &Gate{env: env, log: zerolog.New(&log), history: past, machine: &directive.Layer{}}
	late, soon := time.Now().Add(-time.Millisecond), time.Now().Add(time.Hour)
	if end := g.follow(&launch{}, hook.Spec{}, late); !end.denied || started != 0 || log.Len() > 0 {
		t.Errorf("too late: %+v, started %d times, logged %s", end, started, &log)
	}
	stopped := &launch{}
	stopped.Stop()
	if end := g.follow(stopped, hook.Spec{}, soon); end.denied || !end.result.NotExecuted || !end.result.Stopped ||
		started != 0 || log.Len() > 0 {
		t.Errorf("stopped: %+v, started %d times, logged %s", end, started, &log)
	}
	if end := g.follow(&launch{}, hook.Spec{}, soon); end.denied || end.result.NotExecuted || started != 1 ||
		!strings.Contains(log.String(), "hook starts") {
		t.Errorf("in time: %+v, started %d times, logged %s", end, started, &log)
	}
}

func TestAGrantThatIsExtendedBeforeItsHookHasStartedIsExtended(t *testing.T) {
	for _, until := range []policy.Time{0, 5} {
		run := newPretendRun(hook.Spec{})
		l := &launch{}
		extend := func(until time.Duration) { l.tell(func(run HookRun) { run.Extend(until) }) }
		if until > 0 {
			extend(7)
		}
		l.started(run)
		extend(9)
		want := map[policy.Time]int{0: 1, 5: 2}[until]
		if len(run.extended) != want || run.extended[want-1] != 9 || want > 1 && run.extended[0] != 7 {
			t.Errorf("of a grant until %d: %v", until, run.extended)
		}
	}
}

var _ HookRun = (*hook.Run)(nil)
