// Package aftercare looks after a host once its operation has succeeded, before the grant goes on: it lets the host
// soak, and asks a program whether the host is healthy. Meanwhile the run is not over for anybody else.
//
// The program is asked at once and again after each pause, and a last time when the soak is over. It answers with its
// exit status: 0 is healthy, 75 not yet, anything else unhealthy. A call that takes too long, or is stopped, counts as
// "not yet": a service that is starting may not answer.
//
// Its decisions, in docs/decisions: 100.
package aftercare

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
)

// Config is what follows an operation that has succeeded. The zero value is nothing.
type Config struct {
	// Soak is how long the grant stays with the host at least.
	Soak time.Duration
	// After is the program that says whether the host is healthy, with its arguments; nil if nobody is asked.
	After []string
	// Every is the pause between two calls. Timeout is how long the host may go without a "healthy". Both must be
	// positive if there is a program.
	Every, Timeout time.Duration
}

// Follows reports whether anything follows an operation.
func (c *Config) Follows() bool { return c.Soak > 0 || len(c.After) > 0 }

// CallTimeout is how long one call may take; Grace is the time from SIGTERM to SIGKILL after that.
const (
	CallTimeout = 30 * time.Second
	Grace       = time.Second
)

// Verdict is how it ended.
type Verdict struct {
	// Cut is true if a stop has ended it before the host was found healthy.
	Cut bool
	// Err is why the host is unhealthy; nil if it is not. Exit is the exit status that stands for it, and Output is
	// what the program has last written.
	Err    error
	Exit   int
	Output []string
}

// exitNoAnswer is the exit status of a host that did not become healthy in time, as of timeout(1).
const exitNoAnswer = 124

// Care is the care for one host after one operation.
type Care struct {
	cfg   Config
	begun time.Time
	// lastYes is when the host was last healthy; at first, when the care began.
	lastYes time.Time

	// mu guards what is shown to operators.
	mu   sync.Mutex
	seen control.Care
}

// New returns the care after an operation that has ended now.
func New(cfg Config) *Care {
	c := &Care{cfg: cfg, begun: time.Now()}
	c.lastYes = c.begun
	c.seen.Since = c.begun.Round(0)
	if cfg.Soak > 0 {
		c.seen.SoakUntil = c.seen.Since.Add(cfg.Soak)
	}
	return c
}

// Status is what is known by now.
func (c *Care) Status() *control.Care {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	return &seen
}

// Take takes care of the host until the verdict. ask calls the program, and returns early when halt is closed. said
// gets each answer that differs from the one before.
func (c *Care) Take(halt <-chan struct{}, ask func() hook.Result, said func(answer string)) Verdict {
	for {
		healthy, pause := true, c.cfg.Soak
		if len(c.cfg.After) > 0 {
			r := ask()
			if closed(halt) {
				return Verdict{Cut: true}
			}
			if r.Err != nil && !r.TimedOut && !r.Stopped && !r.NotNow() {
				return Verdict{
					Err:  fmt.Errorf("unhealthy: after said: %s", textOf(&r)),
					Exit: int(max(r.Status(), 1)), Output: r.Tail,
				}
			}
			c.hear(&r, said)
			healthy, pause = r.Err == nil, c.cfg.Every
		}
		left := time.Until(c.begun.Add(c.cfg.Soak))
		if !healthy {
			left = time.Until(c.lastYes.Add(c.cfg.Timeout))
		}
		switch {
		case left > 0:
		case healthy:
			return Verdict{}
		default:
			return Verdict{Exit: exitNoAnswer, Err: fmt.Errorf(
				"unhealthy: after has not said yes for %v; its last answer: %s", c.cfg.Timeout, c.seen.Answer,
			)}
		}
		select {
		case <-time.After(min(pause, left)):
		case <-halt:
			return Verdict{Cut: true}
		}
	}
}

// hear takes in a "healthy" or a "not yet".
func (c *Care) hear(r *hook.Result, said func(answer string)) {
	answer := "not yet: " + textOf(r)
	if r.Err == nil {
		answer, c.lastYes = "healthy", time.Now()
	}
	c.mu.Lock()
	news := c.seen.Answer != answer
	c.seen.Answer, c.seen.At = answer, time.Now().Round(0)
	c.mu.Unlock()
	if news {
		said(answer)
	}
}

// textOf is an answer in words: how the call has ended, and the last line of its output.
func textOf(r *hook.Result) string {
	text := fmt.Sprint(r.Err)
	if r.TimedOut {
		text = fmt.Sprintf("no answer within %v", CallTimeout)
	}
	return strings.Join(append([]string{text}, r.Tail[max(len(r.Tail)-1, 0):]...), ": ")
}

func closed(halt <-chan struct{}) bool {
	select {
	case <-halt:
		return true
	default:
		return false
	}
}
