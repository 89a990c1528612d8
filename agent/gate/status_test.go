package gate

import (
	"errors"
	"testing"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
)

func TestTheLastExitOfAStatusTellsNotNowFromAFailure(t *testing.T) {
	for want, r := range map[string]hook.Result{
		control.ExitOK: {}, control.ExitNotNow: {Exit: 75, Err: errors.New("exit status 75")},
		"exit status 3": {Exit: 3, Err: errors.New("exit status 3")},
		"timed out":     {Exit: 75, TimedOut: true, Err: errors.New("timed out")},
	} {
		if got := exitText(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if g := (control.Gate{LastExit: want}); g.FailedLast() != (r.Err != nil && !r.NotNow()) {
			t.Errorf("%q: failed is %v", want, g.FailedLast())
		}
	}
}
