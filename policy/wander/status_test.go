package wander_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/wander"
)

func TestTheStatusSaysWhyNothingRuns(t *testing.T) {
	for _, tc := range []struct {
		name     string
		scenario func(s *scenario)
		state    string
		why      string
	}{
		{"due", func(*scenario) {}, "absent", wander.WhyNoToken},
		{"running", func(s *scenario) { s.arrive(born(1, 10), 1) }, "running", wander.WhyRunning},
		{
			"running and leaving", func(s *scenario) { s.arrive(born(1, 10), 1); s.leave() }, "running",
			wander.WhyRunning,
		},
		{"just ran", func(s *scenario) { s.ran(born(1, 10)) }, "absent", pace.WhyTooSoon},
		{
			"just ran, at rest", func(s *scenario) { s.ran(born(1, 10)); s.arrive(born(1, 20), 1) }, "resting",
			pace.WhyTooSoon,
		},
		{"made a token", func(s *scenario) { s.advance(maxInterval) }, "offering", wander.WhyPassing},
		{"leaving", func(s *scenario) { s.leave() }, "gone", wander.WhyLeaving},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := inFleet(t)
			tc.scenario(s)
			if st := s.m.Detail(s.now.Time); st.Phase != tc.state || st.Why != tc.why {
				t.Errorf("it is %s, not running because %s; want %s, %s", st.Phase, st.Why, tc.state, tc.why)
			}
			holds := tc.state != "absent" && tc.state != "gone"
			if st := s.m.Status(s.now.Time); st.Holding != holds || (st.Holder == self) != holds {
				t.Errorf("it holds the token: %v, and says: %+v", holds, st)
			}
			if line := s.m.String(); !strings.HasPrefix(line, self.Short()+" "+tc.state) ||
				strings.Contains(line, "\n") {
				t.Errorf("its line is %q", line)
			}
		})
	}
}

func TestTheStatusTellsTheLastAndTheNextRun(t *testing.T) {
	s := inFleet(t)
	if st := s.m.Detail(s.now.Time); st.HasRun || st.NextRun != s.now.Time {
		t.Errorf("before the first run: %+v", st)
	}
	started := s.now.Time
	s.ran(born(1, 10))
	if st := s.m.Detail(s.now.Time); !st.HasRun || st.LastRun != started || st.NextRun != started.Add(minInterval) {
		t.Errorf("after it: %+v", st)
	}
}

func TestTheStatusTellsWhereTheTokenIs(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	if st := s.m.Detail(s.now.Time); !st.Holding || st.Token.ID != born(1, 0).ID {
		t.Errorf("at the holder: %+v", st)
	}
	s.finish()
	token, to := s.ack()
	if st := s.m.Detail(s.now.Time); st.Holding || st.Token != token.Ref || st.LastTo != to {
		t.Errorf("after it was passed to %v: %+v", to, st)
	}
}

func TestTheStatusTellsWhenATokenIsRegenerated(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	since := s.now.Time
	s.advance(time.Minute)
	if st := s.m.Detail(s.now.Time); !st.RegenerateArmed || st.RegenerateAt != since.Add(maxInterval) {
		t.Errorf("absent: %+v", st)
	}
	s.arrive(born(1, 20), 1)
	if st := s.m.Detail(s.now.Time); st.RegenerateArmed {
		t.Errorf("at the holder: %+v", st)
	}
}

// A member has run under one token only, and holds another one: how long its operation takes is known all the same.
func TestTheStatusTellsTheOpThatAnyTokenHasMeasured(t *testing.T) {
	cfg := config()
	cfg.Op = 0
	b := boothOf(t, wander.NewGate(cfg, 2), policy.State{})
	told := func() *policy.Fact { return policy.Find(b.m.Facts(b.now.Time, nil), policy.KeyOp) }
	if f := told(); f.Text != wander.OpAssumed.String() {
		t.Errorf("before a run, op is %v, %s", f.For, f.Text)
	}
	b.arrive(slotted(1, 1, 10))
	b.advance(op)
	b.step(policy.Event{Kind: policy.Finished})
	b.arrive(slotted(0, 2, 10))
	if s := b.m.Status(b.now.Time); s.Token.Slot != 0 {
		t.Fatalf("the status is that of slot %d", s.Token.Slot)
	}
	if f := told(); f.For < op || f.Text != wander.OpMeasured.String() {
		t.Errorf("after a run of %v, op is %v, %s", op, f.For, f.Text)
	}
}
