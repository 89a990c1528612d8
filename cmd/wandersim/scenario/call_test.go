package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/sim"
)

func TestACalledTokenHasItsOwnParameters(t *testing.T) {
	for text, want := range map[string]func(p *Parameters) bool{
		"policy=call": func(p *Parameters) bool {
			s := p.Call()
			return s.OnDemand && s.Demand == sim.Demand{Every: 10 * time.Minute} && s.Backups == 2 &&
				s.Members == 150 && s.MinInterval == 0 && s.MaxInterval == 0 && p.MaxInterval == time.Minute &&
				s.Skip == time.Second &&
				s.Membership == sim.MeasuredMembership(150)
		},
		"policy=call demand=0s min_interval=1h retry_after=5m ready_no=10%": func(p *Parameters) bool {
			s := p.Call()
			return !s.OnDemand && s.Demand == sim.Demand{} && s.MinInterval == time.Hour &&
				p.MaxInterval == 3*time.Hour && s.RetryAfter == 5*time.Minute && s.Ready.No == 0.1
		},
		"policy=call demand=1m beside_hook=true": func(p *Parameters) bool {
			s := p.Call()
			return !s.OnDemand && s.Demand.Beside && s.MinInterval == 10*time.Minute
		},
		"policy=call max_interval=5m backups=4 partition_at=1h save_takes=10ms": func(p *Parameters) bool {
			s := p.Call()
			return s.MaxInterval == 5*time.Minute && s.Backups == 4 && s.Faults.Partition.At == time.Hour &&
				s.Disk == sim.Disk{Takes: 10 * time.Millisecond}
		},
	} {
		p, err := read(t, "", strings.Fields(text)...)
		if err != nil || !want(&p) {
			t.Errorf("%s: %+v, %v", text, p.Call(), err)
		}
	}
}

func TestACalledTokenRefusesWhatItDoesNotHave(t *testing.T) {
	_, err := read(t, "", "policy=call", "walk=sweep", "links=udp", "demand=0s", "min_interval=1s", "backups=5")
	want := []string{
		"--walk: policy call has no such parameter, only wander has: leave it out",
		"--links: policy call has no such parameter, only ring and tree have: leave it out",
		`--backups: "5" is not a whole number from 1 to 4`,
		"min_interval 1s (--min-interval) is below op 4s (default), so a member would be due again before it has " +
			"finished: raise min_interval or lower op",
	}
	if got := problems(t, err); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
