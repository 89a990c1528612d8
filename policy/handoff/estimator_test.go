package handoff

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTheFirstWaitIsAQuarterOfTheTimeoutOrASecond(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		250 * time.Millisecond: 62500 * time.Microsecond,
		4 * time.Second:        time.Second,
		time.Hour:              time.Second,
		1:                      1,
	} {
		e := estimator{handoff: timeout}
		if got := e.timeout(); got != want {
			t.Errorf("timeout %v: wait %v, want %v", timeout, got, want)
		}
	}
}

func TestTheWaitLeavesRoomForARepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timeout := rapid.Int64Range(2, int64(time.Hour)).Draw(t, "timeout")
		e := estimator{handoff: time.Duration(timeout)}
		for _, rtt := range rapid.SliceOf(rapid.Int64Range(-1, timeout)).Draw(t, "round trips") {
			e.sample(time.Duration(rtt))
			if wait := e.timeout(); wait < 1 || wait > time.Duration(timeout/2) {
				t.Fatalf("wait %v with timeout %v", wait, time.Duration(timeout))
			}
		}
	})
}

// "SRTT <- R, RTTVAR <- R/2, RTO <- SRTT + max (G, K*RTTVAR) where K = 4" and "RTTVAR <- (1 - beta) * RTTVAR + beta *
// |SRTT - R'|, SRTT <- (1 - alpha) * SRTT + alpha * R'", alpha = 1/8, beta = 1/4 (RFC 6298, sections 2.2 and 2.3).
func TestTheWaitFollowsRFC6298(t *testing.T) {
	e := estimator{handoff: 10 * time.Second}
	for _, step := range []struct{ rtt, want time.Duration }{
		{80 * time.Millisecond, (80 + 4*40) * time.Millisecond},
		{80 * time.Millisecond, (80 + 4*30) * time.Millisecond},
		{160 * time.Millisecond, (90 + 4*42.5) * time.Millisecond},
	} {
		e.sample(step.rtt)
		if got := e.timeout(); got != step.want {
			t.Fatalf("after a round trip of %v: wait %v, want %v", step.rtt, got, step.want)
		}
	}
}

func TestABusyHostDoesNotLookLikeALostDatagram(t *testing.T) {
	e := estimator{handoff: time.Second}
	for range 100 {
		e.sample(10 * time.Microsecond)
	}
	if got := e.timeout(); got != minWait {
		t.Errorf("wait %v, want %v", got, minWait)
	}
}

// The round trip grows from a tenth of a millisecond to fifty. With a short wait the message is repeated before its
// answer can arrive, and only the time since the last sending is seen.
func TestTheWaitRecoversWhenTheRoundTripHasGrown(t *testing.T) {
	const rtt = 50 * time.Millisecond
	e := estimator{handoff: time.Second}
	for range 100 {
		e.sample(100 * time.Microsecond)
	}
	sendings := 0
	const handoffs = 100
	for range handoffs {
		var sent time.Duration
		for wait := e.timeout(); sent+wait < rtt; wait *= 2 {
			sent += wait
			sendings++
		}
		sendings++
		e.sample(rtt - sent)
	}
	if sendings > 5*handoffs/2 {
		t.Errorf("%d messages for %d handoffs, where one each would do", sendings, handoffs)
	}
}

// "The host MUST set RTO <- RTO * 2" (RFC 6298, section 5.5), up to half of the handoff's timeout.
func TestEachWaitIsTwiceTheLastUpToHalfOfTheTimeout(t *testing.T) {
	e := estimator{handoff: time.Second}
	for wait, want := range map[time.Duration]time.Duration{
		10 * time.Millisecond: 20 * time.Millisecond, 200 * time.Millisecond: 400 * time.Millisecond,
		300 * time.Millisecond: 500 * time.Millisecond,
	} {
		if got := e.next(wait); got != want {
			t.Errorf("after %v comes %v, want %v", wait, got, want)
		}
	}
}
