package agent

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
)

// extended is a run that remembers until when it was extended.
type extended struct {
	pretendRun
	until []time.Duration
}

func (e *extended) Extend(until time.Duration) { e.until = append(e.until, until) }

func TestAGrantThatIsExtendedBeforeItsHookHasStartedIsExtended(t *testing.T) {
	for _, until := range []policy.Time{0, 5} {
		run := &extended{}
		l := &launch{}
		extend := func(until time.Duration) { l.tell(func(run HookRun) { run.Extend(until) }) }
		if until > 0 {
			extend(7)
		}
		l.started(run)
		extend(9)
		want := map[policy.Time]int{0: 1, 5: 2}[until]
		if len(run.until) != want || run.until[want-1] != 9 || want > 1 && run.until[0] != 7 {
			t.Errorf("of a grant until %d: %v", until, run.until)
		}
	}
}

var _ HookRun = (*hook.Run)(nil)
