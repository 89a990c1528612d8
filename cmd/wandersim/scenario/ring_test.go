package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
)

func TestARingHasItsOwnParameters(t *testing.T) {
	for text, want := range map[string]func(p *Parameters) bool{
		"policy=ring": func(p *Parameters) bool {
			s := p.Ring()
			return s.Request == ring.Q && s.Members == 150 && s.Demand.Every == 10*time.Minute && s.Backups == 2 &&
				s.Network == sim.Network{Latency: time.Millisecond, FIFO: true} && s.Membership.Perfect
		},
		"policy=ring request=d jitter=1ms op=2s": func(p *Parameters) bool {
			s := p.Ring()
			return s.Request == ring.D && s.Network.Jitter == time.Millisecond && s.Network.FIFO &&
				s.Hook.Takes == 2*time.Second
		},
		"policy=ring links=udp loss=1% members=9 backups=5": func(p *Parameters) bool {
			s := p.Ring()
			return s.Network.Loss == 0.01 && !s.Network.FIFO && s.Membership == sim.MeasuredMembership(9) &&
				s.Backups == 5
		},
	} {
		p, err := read(t, "", strings.Fields(text)...)
		if err != nil || !want(&p) {
			t.Errorf("%s: %+v, %v", text, p.Ring(), err)
		}
	}
}

func TestAParameterOfAnotherPolicyIsRefused(t *testing.T) {
	for _, c := range []struct {
		file  string
		flags []string
		want  []string
	}{
		{flags: []string{"policy=ring", "walk=sweep", "skip=1s"}, want: []string{
			"--walk: policy ring has no such parameter, only wander has: leave it out",
			"--skip: policy ring has no such parameter, only wander and call have: leave it out",
		}},
		{flags: []string{"request=d"}, want: []string{
			"--request: policy wander has no such parameter, only ring has: leave it out",
		}},
		{file: "policy = \"ring\"\nwalk = \"sweep\"\n", want: []string{
			"s.toml:2: policy ring has no such parameter, only wander has: leave it out",
		}},
		{flags: []string{"policy=ring", "loss=1%"}, want: []string{
			"loss 1% (--loss) has no effect on links paper, which lose nothing and have a perfect detector: choose " +
				"links udp, or leave it out",
		}},
		{flags: []string{"policy=ring", "demand=0s"}, want: []string{
			`--demand: "0s" must be greater than 0: leave it out for the default, 10m`,
		}},
	} {
		_, err := read(t, c.file, c.flags...)
		if got := problems(t, err); !slices.Equal(got, c.want) {
			t.Errorf("%v\ngot\n%s\nwant\n%s", c.flags, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
