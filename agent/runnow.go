package agent

import (
	"context"
	"errors"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
)

// "wanderd run" makes this host due now. It is a demand for the gate's own operation, like the demand of a caller with
// a command; so min_interval does not delay it, and it works with every protocol. A run of the hook that comes
// meanwhile, because the hook is due, serves the demand, too. If the host has a ready check, that is asked first: an
// operator hears at once that the hook is not needed.

func (s source) RunNow(ctx context.Context, run control.RunNow) (control.RunEnd, error) {
	ended := make(chan hook.Result, 1)
	due := make(chan struct{}, 1)
	if err := do(ctx, s.a, func() error { return s.a.runNow(&run, due, ended) }); err != nil {
		return control.RunEnd{}, err
	}
	if run.Wait {
		due = nil
	}
	select {
	case <-due:
		return control.RunEnd{}, nil
	case r := <-ended:
		if e, unready := errors.AsType[*gate.UnreadyError](r.Err); unready {
			return control.RunEnd{Ended: true, Unready: true, Exit: int(e.Exit), Error: e.Text}, nil
		}
		if r.NotExecuted && r.Err != nil {
			return control.RunEnd{}, r.Err
		}
		end := control.RunEnd{Ended: true, Exit: int(r.Status()), Took: control.Duration(r.Took)}
		if r.Err != nil {
			end.Error = r.Err.Error()
		}
		return end, nil
	case <-ctx.Done():
		return control.RunEnd{}, context.Cause(ctx)
	}
}

// runNow demands a run of a gate's own operation.
func (a *Agent) runNow(run *control.RunNow, due chan struct{}, ended chan hook.Result) error {
	g, err := a.gateFor(run.Gate)
	if err != nil {
		return err
	}
	outside := ""
	if run.OutsideWindow {
		outside = run.User + "@" + a.cfg.Name
	}
	return g.RunNow(run.PID, outside, due, ended)
}
