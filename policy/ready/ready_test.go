package ready_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ready"
)

const (
	timeout = 30 * time.Second
	again   = 10 * time.Minute
)

func at(d time.Duration) policy.Time { return policy.Time(d) }

// asked is a question that was answered an hour after the origin.
func asked(yes bool) *ready.Question {
	q := &ready.Question{Timeout: timeout, Again: again}
	q.Ask()
	q.Answer(at(time.Hour), yes)
	return q
}

func TestAHostIsAskedATimeoutBeforeItsOperationIsDueAndAtOnceIfThatIsOver(t *testing.T) {
	q := ready.Question{Timeout: timeout, Again: again}
	if got := q.AskAt(at(time.Hour)); got != at(time.Hour-timeout) {
		t.Errorf("due in an hour, asked at %v", time.Duration(got))
	}
	if q.AskAt(policy.Never) != policy.Never {
		t.Error("a host is asked although nothing is due")
	}
	q.Ask()
	if q.AskAt(0) != policy.Never {
		t.Error("a host is asked again before it has answered")
	}
}

func TestAHostThatHasNotSaidYesIsNotReady(t *testing.T) {
	var unasked ready.Question
	if unasked.Ready(0) || asked(false).Ready(at(time.Hour)) {
		t.Error("it is")
	}
}

func TestAnAnswerIsAskedForAgainAfterItsTimeWhateverItWas(t *testing.T) {
	for _, yes := range []bool{true, false} {
		if got := asked(yes).AskAt(at(time.Hour)); got != at(time.Hour+again) {
			t.Errorf("after %v it is asked at %v", yes, time.Duration(got))
		}
	}
}

func TestAYesCountsWhileItIsAskedAgainAndNoLonger(t *testing.T) {
	q := asked(true)
	end := at(time.Hour + again + timeout)
	if q.Ask(); !q.Ready(end - 1) {
		t.Error("it does not count while the host is asked again")
	}
	if q.Ready(end) {
		t.Error("it counts although the new answer is too late")
	}
	if q.Answer(end-1, false); q.Ready(end - 1) {
		t.Error("it counts although the host has said no since")
	}
}

func TestARunUsesAYesUpAndTheAnswerThatIsOnItsWay(t *testing.T) {
	q := asked(true)
	q.Ask()
	q.Used()
	if q.Ready(at(time.Hour)) {
		t.Error("the yes counts for two runs")
	}
	if q.Answer(at(time.Hour), true) || q.Ready(at(time.Hour)) {
		t.Error("an answer to a question of before the run counts for the next one")
	}
	if got := q.AskAt(at(2 * time.Hour)); got != at(2*time.Hour-timeout) {
		t.Errorf("the next question is at %v", time.Duration(got))
	}
	q.Ask()
	if !q.Answer(at(2*time.Hour), true) || !q.Ready(at(2*time.Hour)) {
		t.Error("the next answer does not count")
	}
}

func TestARequestToAskAtOnceDoesNotWaitAfterANo(t *testing.T) {
	q := asked(false)
	if q.AtOnce(); q.AskAt(at(time.Hour)) != at(time.Hour-timeout) {
		t.Error("it waits")
	}
	q = asked(true)
	if q.AtOnce(); !q.Ready(at(time.Hour)) {
		t.Error("a yes is lost")
	}
}
