package handoff

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// near and far are partners.
const near, far = 1, 2

func TestThePatienceIsBetweenOneTimeoutAndSixteen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timeout := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "timeout"))
		p := patience{timeout: timeout}
		for _, answer := range rapid.SliceOf(rapid.Int64Range(-2, int64(100*timeout))).Draw(t, "answers") {
			if answer < 0 {
				p.failed()
			} else {
				p.answered(near, time.Duration(answer))
			}
			if d := p.with(near); d < timeout || d > 16*timeout || p.forCommit(near) < d {
				t.Fatalf("%v for an Ack, %v for a Commit, with timeout %v", d, p.forCommit(near), timeout)
			}
		}
	})
}

func TestThePatienceIsTwoRoundTripsInASlowNetwork(t *testing.T) {
	p := patience{timeout: time.Second}
	for _, step := range []struct{ answer, want time.Duration }{
		{10 * time.Millisecond, time.Second},
		{400 * time.Millisecond, time.Second},
		{900 * time.Millisecond, 1800 * time.Millisecond},
		{1700 * time.Millisecond, 3400 * time.Millisecond},
		{900 * time.Millisecond, 3200 * time.Millisecond}, // the excess falls by an eighth
	} {
		p.answered(near, step.answer)
		if got := p.with(near); got != step.want {
			t.Fatalf("after an answer in %v: %v, want %v", step.answer, got, step.want)
		}
	}
}

// One paused host says little about the network.
func TestOneLateAnswerDoublesThePatienceAtMost(t *testing.T) {
	p := patience{timeout: time.Second}
	p.answered(near, 10*time.Millisecond)
	p.answered(near, time.Hour)
	if got := p.with(near); got != 2*time.Second {
		t.Errorf("the patience is %v", got)
	}
	for range 8 {
		p.answered(near, 10*time.Millisecond)
	}
	if got := p.with(near); got != time.Second {
		t.Errorf("eight answers later it is %v", got)
	}
}

// One or two members that do not answer are down. If none answers, the network may be slower than the patience.
func TestThePatienceDoublesAfterFourFailuresInARow(t *testing.T) {
	p := patience{timeout: time.Second}
	p.answered(near, 10*time.Millisecond)
	for failures := range 40 {
		want := min(time.Second<<(failures/4), 16*time.Second)
		if got := p.with(near); got != want {
			t.Fatalf("after %d failures the patience is %v, want %v", failures, got, want)
		}
		p.failed()
	}
	p.answered(near, 10*time.Millisecond)
	if got := p.with(near); got != time.Second {
		t.Errorf("after an answer it is %v", got)
	}
}

func TestASlowNetworkIsNotedAfterEightAnswersInARow(t *testing.T) {
	tell := func(answers ...time.Duration) (told int) {
		p := patience{timeout: time.Second}
		for range 100 {
			for _, answer := range answers {
				if p.answered(near, answer) {
					told++
				}
			}
		}
		return told
	}
	const slow, quick = 501 * time.Millisecond, 500 * time.Millisecond
	if got := tell(slow); got != 100/8 {
		t.Errorf("all slow: told %d times", got)
	}
	if got := tell(slow, quick); got == 0 {
		t.Error("every second is slow, and nobody is told")
	}
	if got := tell(slow, slow, slow, slow, slow, slow, slow, quick, slow, quick, quick, quick, quick, quick, quick,
		quick, quick, quick, quick, quick, quick, quick, quick, quick, quick); got != 0 {
		t.Errorf("eight slow ones, and a quick one among them: told %d times", got)
	}
	if got := tell(slow, quick, quick); got != 0 {
		t.Errorf("one in three is slow, as where datagrams are lost: told %d times", got)
	}
}
