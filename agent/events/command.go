package events

import (
	"context"
	"os"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
)

// The command is started once for each event. Like a hook it is a process with a guard, so that nothing is left of it
// when its time is over, or when this process has died. Status 0 is "taken", 75 "not now", and anything else "refused".

// commandGrace is how long the command may take from SIGTERM to SIGKILL.
const commandGrace = time.Second

// Run is a program that runs; see [hook.Run].
type Run interface {
	Stop()
	Done() <-chan hook.Result
}

// run returns the delivery to a command.
func (s *Events) run(argv []string, timeout time.Duration) deliver {
	return func(ctx context.Context, e *Event) error {
		run, err := s.start(hook.Spec{
			Argv: argv, Env: hook.Environ(os.Environ(), e.environment()...), For: CommandReceiver, Input: e.json(),
			Limits: hook.Limits{Timeout: timeout, Grace: commandGrace}, Log: output{s},
		})
		if err != nil {
			return err
		}
		defer context.AfterFunc(ctx, run.Stop)()
		switch r := <-run.Done(); {
		case r.Err == nil:
			return nil
		case r.Stopped || r.NotExecuted || r.NotNow():
			return r.Err
		default:
			return errRefused{r.Err}
		}
	}
}

// output writes what the command says to the log.
type output struct{ *Events }

// Line implements [hook.Log].
func (o output) Line(stream, text string) {
	o.log.Info().Str("receiver", CommandReceiver).Str("stream", stream).Msg(text)
}

// Warn implements [hook.Log].
func (o output) Warn(text string, facts ...any) {
	o.log.Warn().Str("receiver", CommandReceiver).Fields(facts).Msg(text)
}
