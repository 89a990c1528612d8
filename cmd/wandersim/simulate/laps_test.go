package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/cmd/wandersim/scenario"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/report"
)

// Members with a wrong op use the measured lap, and the output warns.
func TestAWrongOpIsNamedWithTheLap(t *testing.T) {
	for told, warns := range map[time.Duration]bool{20 * time.Second: false, 4 * time.Second: true} {
		p := scenario.Parameters{
			Policy: "wander", Walk: wander.Sweep, OnLost: soft.Finish, Members: 30, Backups: 2, Seed: 1,
			Slots: scenario.Tokens{Number: 1}, Seeds: 1,
			Op: 20 * time.Second, OpConfigured: told, Skip: time.Second, MinInterval: 2 * time.Minute,
			MaxInterval: 6 * time.Minute, DefaultMaxInterval: true, Duration: 2 * time.Hour,
			Network: sim.Network{Latency: time.Millisecond}, DetectAfter: new(10 * time.Second),
		}
		r, err := wanders(t.Context(), p, func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Tables(report.Text)
		if got := strings.Contains(text,
			"warning: a lap of the token takes 10m, and op is set too short"); got != warns {
			t.Errorf("told %v: it warns %v, of %v\n%s", told, got, r.Lap, text)
		}
	}
}
