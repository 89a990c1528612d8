package ballot_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// A holder that sends but hears no other member keeps the others waiting for one lease from its first unanswered
// renewal: its further renewals, and its repetitions of that one, lend nothing.
func TestUnansweredRenewalsLendNothing(t *testing.T) {
	c := newCircle(t, 3)
	c.elect(0)
	c.renew()
	at, _ := c.m[0].NextWake()
	c.now = at
	c.wake(0)
	first := c.now
	answered := 0
	for c.now < first.Add(3*lease) {
		for _, msg := range c.air {
			if to, _ := c.roster.Rank(msg.To); to == 1 {
				for _, answer := range c.receive(msg) {
					if answer.Kind == ballot.KindRenewed {
						answered++ // and the answer is lost
					}
				}
			}
		}
		c.air = nil
		next := c.ask(ballot.KindPromise, 2, 1, epoch(10_000, 2), 99)
		if sent := c.receive(next); len(sent) == 1 && sent[0].Kind == ballot.KindPromised {
			break
		}
		at, ok := c.m[0].NextWake()
		if step := c.now.Add(patience); !ok || at > step {
			at = step
		}
		c.now = max(c.now, at)
		if wake, ok := c.m[0].NextWake(); ok && wake <= c.now {
			c.wake(0)
		}
	}
	if waited := c.now.Sub(first); waited > lease+patience {
		t.Errorf("another member waits for %v, the lease is %v; %d renewals were answered", waited, lease, answered)
	}
	if answered < 4 {
		t.Errorf("%d renewals were answered: the test asks too little", answered)
	}
}

// When a holder is heard again after renewals without an answer, one answered probe is enough: it renews its lease at
// once.
func TestAHolderThatIsHeardAgainRenewsAtOnce(t *testing.T) {
	c := newCircle(t, 3)
	c.elect(0)
	c.renew()
	until := c.m[0].Until()
	for range 2 { // one renewal and one probe without an answer
		c.air = nil
		for len(c.air) == 0 || c.air[0].Exchange == 0 {
			at, _ := c.m[0].NextWake()
			c.now = max(c.now, at)
			c.wake(0)
		}
		for number := c.air[0].Exchange; ; {
			at, _ := c.m[0].NextWake()
			c.now = max(c.now, at)
			c.air = nil
			c.wake(0)
			if len(c.air) > 0 && c.air[0].Exchange != number {
				break
			}
		}
	}
	if end := c.deliver(); end.Ending != ballot.Renewed || c.m[0].Until() != c.now.Add(held) ||
		c.m[0].Until() <= until {
		t.Errorf("%+v: it may run for %v", end, c.m[0].Until().Sub(c.now))
	}
}

// A probe lends and promises nothing, whichever member gets it: neither one that has promised an older epoch, nor one
// that is busy.
func TestAProbePromisesNothing(t *testing.T) {
	c := newCircle(t, 3)
	probe := c.ask(ballot.KindRenew, 0, 1, epoch(5, 0)+1, 3)
	ballot.SetLoad(&probe.Load, c.roster.Hash(), lease, 1)
	c.wantAnswer(c.receive(probe), ballot.KindRenewed)
	if promised, end := c.m[1].Lease(); promised != 0 || end > c.now {
		t.Errorf("a probe was promised %v, for %v", promised, end.Sub(c.now))
	}
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 2, 1, epoch(4, 2), 1)), ballot.KindPromised)
	c.wantAnswer(c.receive(probe), ballot.KindRefused)
	c.now = c.now.Add(lease)
	var memo policy.Memo
	c.m[1].Memo(&memo)
	c.m[1] = c.restart(1, &memo)
	c.wantAnswer(c.receive(probe), ballot.KindRefused)
}

// "A lease renewed by nobody ends its epoch's token": a member has promised a newer epoch while the lease was running.
// When no member renews the lease, the token is over, and its holder notes that; without such a refusal the holder
// keeps the token, and goes on when a majority answers again.
func TestALeaseRenewedByNobodyEndsAContestedToken(t *testing.T) {
	for _, contested := range []bool{true, false} {
		c := newCircle(t, 3)
		c.elect(0)
		c.renew()
		at, _ := c.m[0].NextWake()
		c.now = at
		c.wake(0)
		if contested {
			refusal := c.air[0]
			refusal.Kind, refusal.From, refusal.To = ballot.KindRefused, refusal.To, refusal.From
			ballot.SetLoad(&refusal.Load, c.roster.Hash(), lease, epoch(60, 1))
			c.receive(refusal)
		}
		until, ended := c.m[0].Until(), false
		for c.now < until {
			at, _ := c.m[0].NextWake()
			c.now = max(c.now, at)
			c.wake(0)
			ended = ended || c.end.Ending == ballot.Ended
			if c.air = nil; ended && c.now < until {
				t.Fatalf("its token is over %v before its lease", until.Sub(c.now))
			}
		}
		if held := c.m[0].Token() != nil; ended != contested || held == contested {
			t.Errorf("contested %v: the token is over %v, it holds it %v", contested, ended, held)
		}
	}
}

// A proposer that does not hear the answers repeats its question, and what it could win is over as soon as its first
// question would have been.
func TestARepeatedPromiseLendsNothing(t *testing.T) {
	c := newCircle(t, 3)
	question := c.ask(ballot.KindPromise, 0, 1, epoch(5, 0), 77)
	c.wantAnswer(c.receive(question), ballot.KindPromised)
	_, end := c.m[1].Lease()
	c.now = c.now.Add(lease / 2)
	c.wantAnswer(c.receive(question), ballot.KindPromised)
	if _, again := c.m[1].Lease(); end != c.now.Add(lease/2) || again != end {
		t.Errorf("the lease ends in %v, and after the repetition in %v", end.Sub(c.now), again.Sub(c.now))
	}
}

// A member that sends and does not hear leaves the others time for tokens of their own. As soon as it hears or sees
// somebody it proposes as usual.
func TestWhoHearsNobodyProposesRarely(t *testing.T) {
	for _, hears := range []bool{false, true} {
		c := newCircle(t, 3)
		attempts := func(d time.Duration) (n int) {
			var last wire.Exchange
			for end := c.now.Add(d); c.now < end; c.air = nil {
				at, _ := c.m[0].NextWake()
				if at >= end {
					c.now = end
					break
				}
				c.now = max(c.now, at)
				if c.wake(0); len(c.air) > 0 && c.air[0].Kind == ballot.KindPromise && c.air[0].Exchange != last {
					last = c.air[0].Exchange
					n++
				}
				if hears {
					c.m[0].Heard(c.now)
				}
			}
			return n
		}
		c.m[0].Propose(c.now, 0)
		attempts(100 * lease)
		n := attempts(200 * lease)
		if rarely := n <= 50; rarely == hears {
			t.Errorf("hears others %v: it proposes %d times in 200 leases", hears, n)
		}
		at, _ := c.m[0].NextWake()
		for tries := 0; at < c.now.Add(2*lease) && !hears && tries < 100; tries++ {
			attempts(lease)
			at, _ = c.m[0].NextWake()
		}
		c.m[0].Heard(c.now)
		if at, _ = c.m[0].NextWake(); at > c.now.Add(17*patience) {
			t.Errorf("hears others %v: it still waits for %v", hears, at.Sub(c.now))
		}
	}
}
