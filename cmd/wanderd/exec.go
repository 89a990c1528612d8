package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
)

type execution struct {
	*program
	gates []string
	// wait is nil if there is no limit; zero has the same effect as nonblock.
	wait               *time.Duration
	timeout, killAfter time.Duration
	nonblock           bool
	conflict           uint64

	argv []string
	// path is the program of argv.
	path    string
	client  *control.Client
	signals chan os.Signal
	// giveUp delivers a value when the time to wait is over.
	giveUp <-chan time.Time
	line   waitingLine
}

// atOnce is how long the grant of a run may take that has nothing to wait for, because its start is recorded first.
const atOnce = time.Second

func (e *execution) table() settings.Table {
	return settings.Table{
		settings.Row("gate", settings.List(&e.gates), "",
			"The gate. It may be left out where the agent has only one. Can be repeated: the command runs when this "+
				"host holds all of them.").As("GATE"),
		settings.Row("wait", settings.Moment(&e.wait), "",
			"How long to wait for the gate; by default for as long as it takes.").Short("w"),
		settings.Row("nonblock", settings.Bool(&e.nonblock), "false",
			"Do not wait: give up unless the token is at this host and nobody uses it.").Short("n"),
		settings.Row("timeout", settings.Positive(&e.timeout), "",
			"How long the command may run. Then it gets SIGTERM, and the exit code is 124. The hook_timeout of the "+
				"gate is a limit, too."),
		settings.Row("kill_after", settings.Duration(&e.killAfter), "5s",
			"How long a command that has to stop may take from SIGTERM to SIGKILL."),
		settings.Row("conflict_exit_code", settings.Count(&e.conflict, 0, 255), "75",
			"The exit code if the gate was not granted in time.").As("CODE").Short("E"),
	}
}

func (p *program) newExecCommand() *cobra.Command {
	e := &execution{program: p}
	cmd := &cobra.Command{
		Use:        "exec [flags] -- COMMAND [ARG...]",
		SuggestFor: []string{"lock"},
		Short:      "Run a command while this host holds a gate",
		Long:       longExec,
		Example:    exampleExec,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("exec needs a command: wanderd exec -- COMMAND [ARG...]")
			}
			return nil
		},
	}
	cli.WithTable(cmd, e.table(), "command line")
	cmd.Flags().SetInterspersed(false) // what follows the command belongs to the command
	return p.configured(cmd, func(_ context.Context, c agent.Config, args []string) error {
		e.argv, e.client = args, control.Dial(c.Socket)
		if e.nonblock && e.wait != nil {
			return cli.UsageError(errors.New("--nonblock and --wait exclude each other: leave one of them out"))
		}
		e.nonblock = e.nonblock || e.wait != nil && *e.wait == 0
		return e.run()
	}, "socket", "state_dir", "config")
}

// run waits for the gate, runs the command, and returns its exit code as an [exitError].
func (e *execution) run() error {
	if err := e.locate(); err != nil {
		return err
	}
	if err := e.nested(); err != nil {
		return err
	}
	e.takeSignals()
	switch {
	case e.nonblock:
		e.giveUp = time.After(atOnce)
	case e.wait != nil:
		e.giveUp = time.After(*e.wait)
	}
	for {
		// A caller that was stopped (SIGSTOP) when its turn came has lost its turn, and asks again.
		if again, err := e.try(); !again {
			return err
		}
	}
}

// locate finds the program before the caller begins to wait.
func (e *execution) locate() (err error) {
	e.path, err = exec.LookPath(e.argv[0])
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return cli.Exit(exitNotFound, fmt.Errorf("%s does not exist: check its name, and PATH", e.argv[0]))
	}
	return cli.Exit(exitNotExecutable, fmt.Errorf("%s may not be executed: check its mode and its file system",
		e.argv[0]))
}

// nested refuses to wait for a gate under which this process itself runs.
func (e *execution) nested() error {
	environ := make(map[string]string)
	for _, entry := range e.environ {
		key, value, _ := strings.Cut(entry, "=")
		environ[key] = value
	}
	if environ["WANDERD_HELD"] == "" {
		return nil
	}
	for _, held := range append([]string{environ["WANDERD_GATE"]}, strings.Fields(environ["WANDERD_WITH"])...) {
		if held != "" && (len(e.gates) == 0 || slices.Contains(e.gates, held)) {
			return cli.UsageError(fmt.Errorf("this runs under the gate %q already, and would wait for itself: leave "+
				"out the inner \"wanderd exec\"", held))
		}
	}
	return nil
}

// takeSignals takes the signals that the command will get. A signal that this program was started to ignore stays
// ignored.
func (e *execution) takeSignals() {
	e.signals = make(chan os.Signal, 16)
	for _, s := range []os.Signal{
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGWINCH,
	} {
		if !signal.Ignored(s) {
			signal.Notify(e.signals, s)
		}
	}
	e.ownSignals() // now, because to take a signal that nobody takes is expensive
}

type granted struct {
	grant hook.Grant
	heard []byte
	err   error
}

// guard returns the guard of the next try. That of the first has been started by main.
func (p *program) guard() (command *hook.Command, err error) {
	if command, p.prepared = p.prepared, nil; command == nil {
		command, err = hook.Prepare()
	}
	return command, err
}

// try asks once, and runs the command if it is granted. If again is true, nothing ran, and another try may succeed. The
// guard has started before the agent is asked, because starting a process takes long on a busy host, and a grant does
// not wait.
func (e *execution) try() (again bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	command, err := e.guard()
	if err != nil {
		return false, fmt.Errorf("cannot start the guard of the command: %w", err)
	}
	if _, err := await(e, command.Up(), nil); err != nil {
		command.Abandon()
		return false, err
	}
	asked, err := e.client.Connect(command.Socket())
	if err != nil {
		command.Abandon()
		return false, helpful(err)
	}
	defer func() { _ = asked.Close() }()
	asks := control.ExecRequest{Command: filepath.Base(e.argv[0]), NonBlock: e.nonblock}
	if len(e.gates) > 0 {
		asks.Gate, asks.With = e.gates[0], e.gates[1:]
	}
	if err := asked.Ask(ctx, asks); err != nil {
		command.Abandon()
		return false, helpful(err)
	}
	answer, err := e.answer(asked)
	if err != nil {
		command.Abandon()
		return e.refused(err)
	}
	result := command.Run(hook.Task{
		Path: e.path, Argv: e.argv, Timeout: e.timeout, KillAfter: e.killAfter, Grant: answer.grant,
		Heard: answer.heard,
	}, e.signals)
	if result.NotExecuted && result.Orphaned {
		return true, nil
	}
	return false, e.outcome(&result)
}

// tooLong returns the error of a caller that was not granted the gate within --wait.
func (e *execution) tooLong() error {
	within := atOnce
	if !e.nonblock {
		within = *e.wait
	}
	return cli.Exit(int(e.conflict), fmt.Errorf("not granted within %s: %s: raise --wait, or see \"wanderd status\"",
		settings.FormatDuration(within), e.waitingFor()))
}

func (e *execution) answer(asked *control.Asked) (granted, error) {
	answers := make(chan granted, 1)
	go func() {
		raw, heard, err := asked.Answer()
		g := granted{heard: heard, err: err}
		if err == nil {
			g.err = json.Unmarshal(raw, &g.grant)
		}
		answers <- g
	}()
	defer e.line.clear()
	g, err := await(e, answers, e.line.ticks())
	return g, cmp.Or(err, g.err)
}

// await waits for a value, unless a signal comes first, or the time to wait is over.
func await[T any](e *execution, comes <-chan T, tick <-chan time.Time) (came T, err error) {
	for {
		select {
		case came = <-comes:
			return came, nil
		case s := <-e.signals:
			if sig := s.(syscall.Signal); sig != syscall.SIGWINCH {
				return came, cli.Exit(cli.ExitSignal+int(sig), nil)
			}
		case <-e.giveUp:
			return came, e.tooLong()
		case <-tick:
			e.line.write("wanderd: waiting: " + e.waitingFor())
		}
	}
}

// refused gives an error its exit code, unless another try may succeed.
func (e *execution) refused(err error) (again bool, _ error) {
	refusal, ok := errors.AsType[*control.Refusal](err)
	if !ok {
		return false, helpful(err)
	}
	switch refusal.Reason {
	case control.Late:
		return true, nil
	case control.Busy:
		return false, cli.Exit(int(e.conflict), fmt.Errorf("%w: %s", refusal, e.waitingFor()))
	case control.NoGate:
		return false, cli.UsageError(refusal)
	case control.Leaving:
	}
	return false, cli.Exit(exitNoAgent, refusal)
}

// outcome gives the end of a command its exit code.
func (e *execution) outcome(r *hook.Result) error {
	name := filepath.Base(e.argv[0])
	if r.Leftovers {
		_, _ = fmt.Fprintf(e.stderr, "wanderd: %s left processes behind, which were stopped: let it wait for them, "+
			"or start daemons with setsid\n", name)
	}
	if r.Undead {
		_, _ = fmt.Fprintf(e.stderr, "wanderd: processes of %s survive SIGKILL, or belong to another user: the gate "+
			"may be granted elsewhere while they live\n", name)
	}
	lost := func(why string) error {
		return cli.Exit(cli.ExitDefect, fmt.Errorf("the grant was lost, and %s was stopped: %s", name, why))
	}
	var errno syscall.Errno
	switch {
	case r.NotExecuted && errors.As(r.Err, &errno) && errno == syscall.ENOENT:
		return cli.Exit(exitNotFound, r.Err)
	case r.NotExecuted && errors.As(r.Err, &errno):
		return cli.Exit(exitNotExecutable, r.Err)
	case r.Orphaned:
		return lost("the agent on this host has died; start it, and this command again")
	case r.Expired:
		return lost("no word of its extension came in time: a strict gate has no majority, or its agent stood still; " +
			"\"wanderd status\" says which")
	case r.Stopped:
		return lost("the token was revived elsewhere, or the agent is stopping; its log says which")
	case r.TimedOut:
		return cli.Exit(exitTimeout, r.Err)
	case r.Code < 0:
		return cli.Exit(cli.ExitDefect, r.Err)
	}
	return cli.Exit(r.Code, nil)
}

// waitingFor describes the holder of the token, and how many callers wait before this one.
func (e *execution) waitingFor() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	status, err := e.client.Status(ctx)
	if err != nil {
		return "the agent does not answer"
	}
	g := e.waitsIn(&status)
	if g == nil {
		return "this host has no such gate"
	}
	return waitingFor(g, os.Getpid(), e.now())
}

// waitsIn returns the gate in whose queue this caller is: the first of those that it needs.
func (e *execution) waitsIn(s *control.Status) *control.Gate {
	g := find(s.Gates, func(g *control.Gate) bool {
		return slices.ContainsFunc(g.Callers, func(c control.Caller) bool { return c.PID == os.Getpid() })
	})
	switch {
	case g != nil:
	case len(e.gates) > 0:
		g = gateOf(s, e.gates[0])
	case len(s.Gates) > 0 && !slices.ContainsFunc(s.Gates[1:], func(g control.Gate) bool { return g.ZoneOf == "" }):
		g = &s.Gates[0]
	}
	return g
}

// waitingFor describes a gate to the caller with a process number.
func waitingFor(g *control.Gate, pid int, now time.Time) string {
	text := "gate " + printable(g.Name) + ": "
	switch {
	case len(g.Callers) > 0 && g.Callers[0].Running:
		text += callerText(&g.Callers[0]) + " runs on this host"
	case g.Care != nil:
		text += "this host is looked after, after its last run"
	case g.Running:
		text += "the hook runs on this host"
	case g.Paused != nil || g.PausedHere != nil:
		text += pausedText(g, now)
	case g.Because == control.BecauseNoMajority, g.Because == control.BecauseWindow,
		g.Because == control.BecauseLeaving, g.Because == control.BecauseDisk, g.Because == control.BecauseDown,
		g.Because == control.BecauseOthers,
		// callers wait, in a gate on demand with a min_interval
		g.Because == control.BecauseNotDue && len(g.Callers) > 0:
		text += printable(g.NotRunning)
	case callsFor(g) != nil:
		text += callText(callsFor(g), now)
	case g.Holding:
		text += "the token is here"
	case g.HolderName != "" && !g.Heard.IsZero():
		text += fmt.Sprintf("%s had the token when this host last heard of it, %s ago", printable(g.HolderName),
			rough(now.Sub(g.Heard)))
	case g.HolderName != "" && g.HolderSince.IsZero():
		text += printable(g.HolderName) + " has the token"
	case g.HolderName != "":
		text += "the token was last passed to " + printable(g.HolderName)
	case len(g.Callers) == 0 && isForHook(g.Because):
		// the reason is why the hook does not run, or that nobody waits; this caller does not wait
		text += "the token is elsewhere"
	default:
		text += printable(g.NotRunning)
	}
	waiting, before := 0, 0
	for _, c := range g.Callers {
		if c.PID == pid {
			before = waiting
		}
		if !c.Running {
			waiting++
		}
	}
	if waiting > 1 {
		text += fmt.Sprintf("; %d wait on this host, %d of them before this one", waiting, before)
	}
	return text
}

// isForHook reports whether a reason does not concern a caller with a command.
func isForHook(why control.Because) bool {
	return why == control.BecauseUnwanted || why == control.BecauseNotDue || why == control.BecauseNotReady
}

// waitingLine is a line on a terminal that is rewritten again and again.
type waitingLine struct{ written bool }

// ticks delivers a value whenever the line has to be rewritten; it is nil if nobody can see the line.
func (l *waitingLine) ticks() <-chan time.Time {
	if !isForeground() {
		return nil
	}
	return time.Tick(time.Second)
}

func (l *waitingLine) write(text string) {
	if isForeground() {
		l.written = true
		fmt.Fprintf(os.Stderr, "\r\x1b[K%s", text)
	}
}

func (l *waitingLine) clear() {
	if l.written {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	l.written = false
}

// isForeground reports whether the standard error is a terminal, and this process in its foreground.
func isForeground() bool {
	group, err := unix.IoctlGetInt(int(os.Stderr.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}
