package agent

import (
	"context"
	"errors"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
)

// "wanderd run": this host is due now. It is a demand, as that of a caller with a command, for the gate's own
// operation; so min_interval does not hold it up, and it works with every protocol. A run of the hook that comes
// meanwhile, because it is due, serves it too. Where the host is asked whether it is ready, it is asked first: an
// operator hears at once that the hook is not needed.

func (s source) RunNow(ctx context.Context, call control.RunNow) (control.RunEnd, error) {
	ended := make(chan hook.Result, 1)
	due := make(chan struct{}, 1)
	if err := do(ctx, s.a, func() error { return s.a.runNow(&call, due, ended) }); err != nil {
		return control.RunEnd{}, err
	}
	if call.Wait {
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

// runNow lets the own operation of a gate be wanted.
func (a *Agent) runNow(call *control.RunNow, due chan struct{}, ended chan hook.Result) error {
	g, err := a.gateFor(call.Gate)
	if err != nil {
		return err
	}
	return g.RunNow(call.PID, due, ended)
}
