package gate

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// The cases are the clocks of an agent before and after its restart.
func TestTheTimeSinceTheLastRunAcrossARestart(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const year = 365 * 24 * time.Hour
	for _, tc := range []struct {
		name string
		boot clock.Boot
		r    statedir.Record
		want time.Duration
		sure bool
	}{
		{
			"one boot, whatever the wall clock did",
			clock.Boot{ID: "a", Up: time.Hour},
			statedir.Record{LastRun: ago(year), Boot: "a", SinceBoot: 50 * time.Minute},
			10 * time.Minute, true,
		},
		{
			"one boot, the wall clock was set back",
			clock.Boot{ID: "a", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: ago(-year), Boot: "a", SinceBoot: 50 * time.Minute},
			10 * time.Minute, true,
		},
		{
			"another boot, the clock was right and is",
			clock.Boot{ID: "b", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: ago(5 * time.Hour), Boot: "a", Synced: true},
			5 * time.Hour, true,
		},
		{
			"another boot, the clock was right and may be",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(5 * time.Hour), Boot: "a", Synced: true},
			5 * time.Hour, true,
		},
		{
			"another boot, nobody sets the clock",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(5 * time.Hour), Boot: "a"},
			5 * time.Hour, true,
		},
		{
			"another boot, the clock was set right since",
			clock.Boot{ID: "b", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: ago(year), Boot: "a"},
			time.Hour, false,
		},
		{
			"another boot, the clock was unset",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: time.Unix(600, 0), Boot: "a"},
			time.Hour, false,
		},
		{
			"another boot, the clock was set back",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(-year), Boot: "a", Synced: true},
			time.Hour, false,
		},
		{
			"another boot, the clock is behind",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(time.Minute), Boot: "a", Synced: true},
			time.Hour, false,
		},
		{
			"a record of before",
			clock.Boot{ID: "b", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: ago(time.Minute)},
			time.Minute, true,
		},
		{
			"a record of before, with an unset clock",
			clock.Boot{ID: "b", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: time.Unix(600, 0)},
			0, false,
		},
		{
			"a record of before, from the future",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(-year)},
			0, false,
		},
		{
			"a system without boots",
			clock.Boot{},
			statedir.Record{LastRun: ago(time.Minute), Boot: "a"},
			time.Minute, true,
		},
	} {
		if got, sure := lastRun(now, &tc.boot, &tc.r); got != tc.want || sure != tc.sure {
			t.Errorf("%s: %s, sure: %v; want %s, %v", tc.name, got, sure, tc.want, tc.sure)
		}
	}
}

func TestStateOfAnotherProtocolIsForgotten(t *testing.T) {
	g := &Gate{descriptor: wander.Descriptor(), log: zerolog.Nop()}
	memo := soft.Memo{Token: wire.TokenID{Birth: 1, Random: 2}}.Bytes()
	for _, tc := range []struct {
		protocol string
		version  uint8
		kept     bool
	}{
		{g.Descriptor().Name, g.Descriptor().Version, true},
		{g.Descriptor().Name, g.Descriptor().Version + 1, false},
		{"ring", 1, false},
	} {
		s := policy.State{Seq: 7, HasRun: true, LastRun: 5, Memo: memo}
		g.forgetMemo(time.Now().UnixNano(), true, &statedir.Record{Protocol: tc.protocol, ProtocolVersion: tc.version},
			&s)
		if (s.Memo == memo) != tc.kept || s.Seq != 7 || !s.HasRun || s.LastRun != 5 {
			t.Errorf("of %s %d it keeps %+v", tc.protocol, tc.version, s)
		}
	}
}
