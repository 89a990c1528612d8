// Package history keeps the last runs of a gate on this host, in memory and in a file, and when it has skipped its
// turns. A run is written when it begins and again when it ends, so that after a restart the agent knows of a run that
// it did not survive. No run waits for the file: a goroutine of its own writes it.
package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/wanderd/wanderd/smallfile"
)

// Keep is how many runs of a gate are kept.
const Keep = 1000

// tooManyLines is the number of lines at which most of the file is about runs that are no longer kept.
const tooManyLines = 4 * Keep

// maxLine bounds the record of a run, in bytes. A longer line is damaged.
const maxLine = 64 << 10

// Run is one run of the protected operation; or, if Skip is set, none: from Start on this host has skipped its turns.
type Run struct {
	Start time.Time `json:"start"`
	// Seq is the fencing number of the grant.
	Seq uint64 `json:"seq"`
	// SeqText is Seq in digits, for readers of JSON that round large numbers. Answers have it, and the file does not.
	SeqText string `json:"seq_text,omitempty"`
	// Command is the program of "wanderd exec"; empty for the hook.
	Command string `json:"command,omitempty"`
	// OutsideWindow is who has ordered the run whatever the windows of the gate say; empty if nobody has.
	OutsideWindow string `json:"outside_window,omitempty"`
	// Stage is the stage of the gate in which the hook ran, in words; empty if the gate has none.
	Stage string `json:"stage,omitempty"`
	// End is absent while the run is under way, and if its agent did not see its end.
	End time.Time `json:"end,omitzero"`
	// Exit is the exit status; -1 if there was none. A hook that exits with 75 has not failed: it cannot do its work
	// now.
	Exit int `json:"exit"`
	// Error is why the run failed; empty if it succeeded.
	Error string `json:"error,omitempty"`
	// Cut is what cut the run short; empty if nothing did.
	Cut Cut `json:"cut,omitempty"`
	// Reboot is set if the host has rebooted during the run, under a grant that was kept: End is when it was up again.
	Reboot *Reboot `json:"reboot,omitempty"`
	// Output is the last output of a failed run.
	Output []string `json:"output,omitempty"`
	// Skip is set if no run began: an operator has let this host skip its turns.
	Skip *Skip `json:"skip,omitempty"`
}

// Skip is who lets a host skip its turns, why, and until when; Until is absent if that has no end.
type Skip struct {
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	Until  time.Time `json:"until,omitzero"`
}

// Reboot names the boots of a host before and after its run, as far as they are known.
type Reboot struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Cut is what cut a run short.
type Cut string

const (
	// CutTimeout: its timeout.
	CutTimeout Cut = "timeout"
	// CutStopped: the agent was told to stop, or the grant was lost.
	CutStopped Cut = "stopped"
	// CutExpired: the end of its grant.
	CutExpired Cut = "expired"
	// CutNotStarted: it was not started.
	CutNotStarted Cut = "not started"
	// CutAgent: its agent was killed, or the host was.
	CutAgent Cut = "agent died"
)

// Running reports whether the run is under way.
func (r *Run) Running() bool { return r.End.IsZero() && r.Cut == "" }

// Failed reports whether the run did not do its work.
func (r *Run) Failed() bool { return r.Error != "" || r.Cut != "" }

// Took is how long the run took; zero if its end was not seen.
func (r *Run) Took() time.Duration {
	if r.End.IsZero() {
		return 0
	}
	return r.End.Sub(r.Start)
}

// Log is the history of one gate. Its methods are safe for concurrent use.
type Log struct {
	path string
	// changed signals that there is something to write; its capacity is one.
	changed chan struct{}

	mu sync.Mutex
	// runs are the last runs, oldest first; unwritten are those whose newest state is not in the file.
	runs, unwritten []Run
	// lines is how many lines the file has.
	lines int
	// interrupted is the run whose end its agent did not see; nil if there was none, or if a later life has read that.
	interrupted *Run
}

// Open reads the history from a file, which need not exist. Runs whose end their last writer did not see count as cut
// short. Damaged lines are skipped. The error is what could not be read; the log can be used nevertheless.
func Open(path string) (*Log, error) {
	l := &Log{path: path, changed: make(chan struct{}, 1)}
	file, _, err := smallfile.Open(path, syscall.O_NOFOLLOW)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("cannot read the history: %w", err)
	}
	defer func() { _ = file.Close() }()
	return l, l.read(file)
}

// read reads the runs, and skips the lines that are damaged.
func (l *Log) read(file io.Reader) error {
	damaged := 0
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		l.lines++
		var r Run
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil || r.Start.IsZero() {
			damaged++
			continue
		}
		l.runs = put(l.runs, &r)
	}
	for i := range l.runs {
		if l.runs[i].Running() {
			l.runs[i].Cut, l.runs[i].Exit = CutAgent, -1
			last := l.runs[i]
			l.interrupted = &last
			l.unwritten = put(l.unwritten, &last)
		}
	}
	if l.interrupted != nil {
		l.signal()
	}
	if damaged > 0 {
		l.lines = tooManyLines // The file is rewritten, lest the next line be appended to half of one.
	}
	switch err := scanner.Err(); {
	case err != nil:
		return fmt.Errorf("cannot read all of the history %s: %w", l.path, err)
	case damaged > 0:
		return fmt.Errorf("%d lines of the history %s are damaged, and were skipped", damaged, l.path)
	}
	return nil
}

// Put records a run that has begun, or the end of one.
func (l *Log) Put(r *Run) {
	l.mu.Lock()
	l.runs, l.unwritten = put(l.runs, r), put(l.unwritten, r)
	l.mu.Unlock()
	l.signal()
}

// put replaces the record of a run, or appends it in place of the oldest. A run ends after the skips that an operator
// has ordered meanwhile.
func put(runs []Run, r *Run) []Run {
	last := len(runs) - 1
	for last >= 0 && r.Skip == nil && runs[last].Skip != nil {
		last--
	}
	if last >= 0 && runs[last].Seq == r.Seq && runs[last].Start.Equal(r.Start) {
		runs[last] = *r
		return runs
	}
	if len(runs) >= Keep {
		runs = slices.Delete(runs, 0, len(runs)-Keep+1)
	}
	return append(runs, *r)
}

// Skips records that this host skips its turns from now on.
func (l *Log) Skips(now time.Time, s Skip) { l.Put(&Run{Start: now, End: now, Exit: -1, Skip: &s}) }

// All returns the runs and the skips, oldest first.
func (l *Log) All() []Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.runs)
}

// Runs returns the runs, oldest first.
func (l *Log) Runs() []Run {
	return slices.DeleteFunc(l.All(), func(r Run) bool { return r.Skip != nil })
}

// Interrupted returns the run whose end its agent did not see. A run is returned in one life only; nil if there is
// none.
func (l *Log) Interrupted() *Run { return l.interrupted }

// Last returns when the last run began; zero if there was none.
func (l *Log) Last() (at time.Time) {
	if runs := l.Runs(); len(runs) > 0 {
		at = runs[len(runs)-1].Start
	}
	return at
}

// retryAfter is the pause after a write that failed.
const retryAfter = 10 * time.Second

// Write writes what is new to the file until ctx is done, and then once more. failed gets the first error of each row
// of errors.
func (l *Log) Write(ctx context.Context, failed func(error)) {
	for fails := false; ; {
		select {
		case <-l.changed:
		case <-ctx.Done():
			_ = l.write()
			return
		}
		err := l.write()
		if err != nil && !fails {
			failed(fmt.Errorf("cannot write the history, which forgets the last runs at a restart: %w", err))
		}
		if fails = err != nil; !fails {
			continue
		}
		select {
		case <-time.After(retryAfter):
			l.signal()
		case <-ctx.Done():
		}
	}
}

func (l *Log) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// write appends what is new, or rewrites the file if it has too many lines.
func (l *Log) write() error {
	l.mu.Lock()
	news := l.unwritten
	l.unwritten = nil
	rewrite := l.lines+len(news) >= tooManyLines
	if rewrite {
		news = slices.Clone(l.runs)
	}
	l.mu.Unlock()
	if len(news) == 0 {
		return nil
	}
	err := l.save(news, rewrite)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.unwritten = append(news, l.unwritten...)
		l.unwritten = l.unwritten[max(len(l.unwritten)-Keep, 0):]
	case rewrite:
		l.lines = len(news)
	default:
		l.lines += len(news)
	}
	return err
}

// save makes runs durable: appended to the file, or in place of its content if rewrite is true.
func (l *Log) save(runs []Run, rewrite bool) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	for i := range runs {
		if err := enc.Encode(&runs[i]); err != nil {
			return err
		}
	}
	// The write does not wait for a pipe's reader.
	path, flags := l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK
	if rewrite {
		path, flags = l.path+".tmp", flags|os.O_TRUNC
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text.Bytes())
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil && rewrite {
		err = os.Rename(path, l.path)
	}
	return err
}
