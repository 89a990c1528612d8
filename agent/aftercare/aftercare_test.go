package aftercare

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/lab/bubble"
)

func result(exit int) hook.Result {
	if exit == 0 {
		return hook.Result{}
	}
	return hook.Result{Exit: exit, Err: fmt.Errorf("exit status %d", exit), Tail: []string{"first", "last"}}
}

func TestTheHostIsAskedUntilTheSoakIsOverAndOnceThen(t *testing.T) {
	hangs := hook.Result{Exit: -1, TimedOut: true, Err: errors.New("raise --ready-timeout")}
	stopped := hook.Result{Exit: -1, Stopped: true, Err: errors.New("stopped")}
	for name, c := range map[string]struct {
		soak    time.Duration
		answers []hook.Result // the last one is repeated
		takes   time.Duration
		asked   int
		exit    int
		why     string
	}{
		"healthy without a soak": {answers: []hook.Result{result(0)}, asked: 1},
		"healthy": {
			soak: 25 * time.Second, answers: []hook.Result{result(0)}, takes: 25 * time.Second, asked: 4,
		},
		"healthy at last": {
			answers: []hook.Result{result(75), hangs, result(0)}, takes: 20 * time.Second, asked: 3,
		},
		"not yet at the end of the soak": {
			soak: 15 * time.Second, answers: []hook.Result{result(0), result(0), result(75), result(0)},
			takes: 25 * time.Second, asked: 4,
		},
		"unhealthy": {
			soak: time.Hour, answers: []hook.Result{result(3)}, asked: 1, exit: 3,
			why: "unhealthy: after said: exit status 3: last",
		},
		"unhealthy in its soak": {
			soak: time.Hour, answers: []hook.Result{result(0), result(0), result(3)}, takes: 20 * time.Second, asked: 3,
			exit: 3, why: "unhealthy: after said: exit status 3",
		},
		"never healthy": {
			answers: []hook.Result{result(75)}, takes: time.Minute, asked: 7, exit: 124,
			why: "unhealthy: after has not said yes for 1m0s; its last answer: not yet: exit status 75: last",
		},
		"hangs": {
			answers: []hook.Result{hangs}, takes: time.Minute, asked: 7, exit: 124,
			why: "unhealthy: after has not said yes for 1m0s; its last answer: not yet: no answer within 30s",
		},
		"is stopped by somebody": {
			answers: []hook.Result{stopped, result(0)}, takes: 10 * time.Second, asked: 2,
		},
		"no longer healthy: its time begins again": {
			soak: time.Hour, answers: []hook.Result{result(75), result(75), result(0), result(75)},
			takes: 80 * time.Second, asked: 9, exit: 124, why: "unhealthy: after has not said yes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				begun, asked := time.Now(), 0
				care := New(Config{Soak: c.soak, After: []string{"x"}, Every: 10 * time.Second, Timeout: time.Minute})
				v := care.Take(nil, func() hook.Result {
					asked++
					return c.answers[min(asked, len(c.answers))-1]
				}, func(string) {})
				if took := time.Since(begun); took != c.takes || asked != c.asked || v.Cut {
					t.Errorf("it takes %v, and asks %d times: %+v", took, asked, v)
				}
				if v.Err == nil {
					v.Err = errors.New("")
				}
				text := v.Err.Error()
				if v.Exit != c.exit || (text == "") != (c.why == "") || !strings.HasPrefix(text, c.why) {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

func TestASoakAloneAsksNobody(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		begun, care := time.Now(), New(Config{Soak: time.Minute})
		if s := care.Status(); !s.SoakUntil.Equal(begun.Add(time.Minute)) || s.Answer != "" {
			t.Errorf("%+v", s)
		}
		v := care.Take(nil, func() hook.Result { t.Error("asked"); return result(0) }, nil)
		if took := time.Since(begun); took != time.Minute || v.Err != nil || v.Cut {
			t.Errorf("after %v: %+v", took, v)
		}
	})
}

func TestAStopEndsTheCareAtOnce(t *testing.T) {
	for name, cfg := range map[string]Config{
		"in its soak":      {Soak: time.Hour},
		"between two":      {After: []string{"x"}, Every: time.Minute, Timeout: time.Hour},
		"during a call":    {After: []string{"hang"}, Every: time.Minute, Timeout: time.Hour},
		"although it is 3": {After: []string{"hang", "3"}, Every: time.Minute, Timeout: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				begun, halt := time.Now(), make(chan struct{})
				time.AfterFunc(30*time.Second, func() { close(halt) })
				v := New(cfg).Take(halt, func() hook.Result {
					if cfg.After[0] == "hang" {
						<-halt
					}
					return result(map[int]int{1: 75, 2: 3}[len(cfg.After)])
				}, func(string) {})
				if took := time.Since(begun); took != 30*time.Second || !v.Cut || v.Err != nil {
					t.Errorf("after %v: %+v", took, v)
				}
			})
		})
	}
}

func TestAnAnswerIsToldWhenItDiffers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var said []string
		answers := []hook.Result{result(75), result(75), result(0), result(0), result(75), result(0)}
		care := New(Config{Soak: 45 * time.Second, After: []string{"x"}, Every: 10 * time.Second, Timeout: time.Minute})
		care.Take(nil, func() hook.Result {
			r := answers[0]
			answers = answers[min(len(answers)-1, 1):]
			return r
		}, func(answer string) { said = append(said, answer) })
		const notYet = "not yet: exit status 75: last"
		if got := strings.Join(said, ", "); got != strings.Join([]string{notYet, "healthy", notYet, "healthy"}, ", ") {
			t.Error(got)
		}
	})
}
