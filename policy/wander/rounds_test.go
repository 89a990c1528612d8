package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
)

// lapping starts a member in a fleet with guardians that is configured with an op far too short.
func lapping(t *testing.T, set func(cfg *wander.Config)) *scenario {
	t.Helper()
	cfg := config()
	cfg.Walk, cfg.Backups = wander.Sweep, 2
	if set != nil {
		set(&cfg)
	}
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	return s
}

// rounds lets the token come and go, each time the given duration after it last went.
func (s *scenario) rounds(took ...time.Duration) {
	s.t.Helper()
	for _, d := range took {
		s.pass(d)
		s.visit(born(1, 10))
	}
}

func (s *scenario) wantLap(lap, maxInterval time.Duration) {
	s.t.Helper()
	if st := s.m.Detail(s.now.Time); st.Lap.Round(time.Minute) != lap ||
		st.MaxInterval.Round(time.Minute) != maxInterval {
		s.t.Errorf("a lap takes %v, and max_interval is %v; want %v and %v", st.Lap, st.MaxInterval, lap, maxInterval)
	}
}

// "If the value of Δmax is too small, the token is regenerated too often": it is never below two laps as they are,
// whatever was configured.
func TestMaxIntervalIsNeverBelowTwoLaps(t *testing.T) {
	const lap = time.Hour
	for name, tc := range map[string]struct {
		set  func(cfg *wander.Config)
		want time.Duration
	}{
		"op far too short":           {nil, 2 * lap},
		"max_interval far too short": {func(cfg *wander.Config) { cfg.MaxInterval = time.Minute }, 2 * lap},
		"max_interval of its own":    {func(cfg *wander.Config) { cfg.MaxInterval = 3 * lap }, 3 * lap},
		"the plain paper": {
			func(cfg *wander.Config) { cfg.MaxInterval, cfg.Backups = maxInterval, 0 }, maxInterval,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := lapping(t, tc.set)
			s.rounds(0, lap, lap)
			s.wantLap(lap, tc.want)
		})
	}
}

// A hook that hangs, or a member that was away, makes one round long, and a second token makes many short.
func TestOneUnusualRoundIsNoLap(t *testing.T) {
	s := lapping(t, nil)
	s.rounds(0)
	s.wantLap(0, maxInterval)
	s.rounds(24 * time.Hour)
	s.wantLap(0, maxInterval)
	s.rounds(10*time.Minute, 10*time.Minute)
	s.wantLap(10*time.Minute, maxInterval)
	s.rounds(24*time.Hour, 10*time.Minute, 20*time.Minute, 40*time.Minute)
	s.wantLap(40*time.Minute, 80*time.Minute)
	s.rounds(time.Minute, time.Minute, time.Minute, time.Minute)
	s.wantLap(20*time.Minute, 40*time.Minute)
	s.rounds(time.Minute)
	s.wantLap(time.Minute, maxInterval)
}

// When members leave, the earlier laps show how long one takes now; when some come, that is unknown.
func TestALapFollowsTheMembersDown(t *testing.T) {
	s := lapping(t, nil)
	s.rounds(0, 5*time.Hour, 5*time.Hour)
	s.wantLap(5*time.Hour, 10*time.Hour)
	s.fleet(1, 3)
	s.wantLap(2*time.Hour, 4*time.Hour)
	s.fleet(1, 2, 3, 4, 5, 6, 7)
	s.wantLap(5*time.Hour, 10*time.Hour)
}

// The time from the loss of one token to the next is no lap.
func TestASilenceBeforeANewTokenIsNoRound(t *testing.T) {
	s := lapping(t, nil)
	s.rounds(0)
	for i := range 4 {
		s.pass(5 * time.Hour)
		token := born(2+i, 100)
		wander.SetAge(&token.Load, time.Hour)
		s.arrive(token, 2)
		s.finish()
		s.ack()
	}
	s.wantLap(0, maxInterval)
}

// The constant that is named is the operator's, whether or not max_interval follows it.
func TestTheConstantThatIsTooShortForALapIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		set  func(cfg *wander.Config)
		want string
	}{
		"op":                {nil, "op"},
		"nothing is set":    {func(cfg *wander.Config) { cfg.Op = 0 }, ""},
		"op fits":           {func(cfg *wander.Config) { cfg.Op = time.Hour / 5 }, ""},
		"max_interval":      {func(cfg *wander.Config) { cfg.MaxInterval = time.Hour }, "max_interval"},
		"max_interval fits": {func(cfg *wander.Config) { cfg.MaxInterval = 3 * time.Hour }, ""},
		"max_interval, plain paper": {
			func(cfg *wander.Config) { cfg.MaxInterval, cfg.Backups = maxInterval, 0 }, "max_interval",
		},
		"max_interval, op as before": {
			func(cfg *wander.Config) { cfg.MaxInterval, cfg.Op = time.Hour, time.Hour }, "max_interval",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := lapping(t, tc.set)
			s.rounds(0, time.Hour)
			if got := s.m.Detail(s.now.Time).TooShort; got != "" {
				t.Errorf("before it knows of a lap it names %q", got)
			}
			s.rounds(time.Hour)
			if got := s.m.Detail(s.now.Time).TooShort; got != tc.want {
				t.Errorf("it names %q, want %q", got, tc.want)
			}
		})
	}
}
