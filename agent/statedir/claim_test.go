package statedir

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A claim is saved by the wall clock, and read by it: it goes on while its host is down.
func TestAClaimEndsByTheWallClock(t *testing.T) {
	d := open(t, t.TempDir())
	before := policy.Instant{Time: policy.Time(time.Hour), Wall: int64(1_800_000_000 * time.Second)}
	claim := policy.Claim{By: wire.MemberID{1}, Life: 1<<64 - 1, Seq: 9, Until: before.Time.Add(8 * time.Hour)}
	claim.For = 20 * time.Hour
	r := sample()
	r.Claim = ClaimOf(&claim, before)
	if err := d.Save("g", r); err != nil {
		t.Fatal(err)
	}
	saved, _, err := d.Load("g")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ later, left time.Duration }{
		"after three hours":                         {3 * time.Hour, 5 * time.Hour},
		"when it is over":                           {9 * time.Hour, -time.Hour},
		"by a clock that was set back for a year":   {-365 * 24 * time.Hour, 20 * time.Hour},
		"by a clock that was set back for an hour ": {-time.Hour, 9 * time.Hour},
	} {
		now := policy.Instant{Time: 7, Wall: before.Wall + int64(c.later)}
		want := claim
		want.Until = now.Time.Add(c.left)
		if got := saved.Claim.Claim(now); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestADamagedClaimIsAnError(t *testing.T) {
	for name, c := range map[string]Claim{
		"nobody's":      {Seq: 1, For: time.Hour},
		"no number":     {By: wire.MemberID{1}, For: time.Hour},
		"for no time":   {By: wire.MemberID{1}, Seq: 1},
		"for centuries": {By: wire.MemberID{1}, Seq: 1, For: policy.LongestClaim + 1},
	} {
		d, r := open(t, t.TempDir()), sample()
		r.Claim = c
		if err := d.Save("g", r); err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Load("g"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
