package ballot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/ballot"
)

func TestABadConfigurationIsRefusedWithItsValues(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*ballot.Config)
		backups int
		want    string
	}{
		"good":              {func(*ballot.Config) {}, 1, ""},
		"a roster of one":   {func(c *ballot.Config) { c.Roster = roster(t, "a") }, 0, ""},
		"not in the roster": {func(c *ballot.Config) { c.Self = 3 }, 1, "not in the roster (a, b, c)"},
		"a lease that is too short": {
			func(c *ballot.Config) { c.Lease = 4 * time.Second }, 1,
			"lease = 4s is too short for kill_after = 4s: at least 4.591s",
		},
		"the shortest lease":       {func(c *ballot.Config) { c.Lease = 4591 * time.Millisecond }, 1, ""},
		"others may not have less": {func(c *ballot.Config) { c.MostLease = time.Second }, 1, "the longest lease, 1s"},
		"a lease for months": {
			func(c *ballot.Config) { c.Lease, c.MostLease = 2000*time.Hour, 2000*time.Hour },
			1, "the longest lease, 2000h",
		},
		"no such clocks":       {func(c *ballot.Config) { c.Rho = 1 }, 1, "differ by 1"},
		"too many backups":     {func(*ballot.Config) {}, 2, "backups = 2: a roster of 3 (a, b, c) has at most 1"},
		"less than no backups": {func(*ballot.Config) {}, -1, "backups = -1"},
		"no room for a backup": {
			func(c *ballot.Config) { c.Roster = roster(t, "a") }, 1,
			"backups = 1: a roster of 1 (a) has at most 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t, 3)
			cfg := c.config(0)
			tc.change(&cfg)
			err := cfg.Check(tc.backups)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want …%s…", err, tc.want)
			}
		})
	}
}

// "with kill-after 5 s about 8 s" (the constants): there is room for it.
func TestTheDefaultsOfTheRulesFit(t *testing.T) {
	if least := ballot.LeastLease(5*time.Second, 100*time.Millisecond, 250*time.Millisecond,
		rho); least > 8*time.Second {
		t.Errorf("the least lease is %v", least)
	}
}
