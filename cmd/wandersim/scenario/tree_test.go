package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
)

func TestATreeHasItsOwnParameters(t *testing.T) {
	for text, want := range map[string]func(p *Parameters) bool{
		"policy=tree": func(p *Parameters) bool {
			s := p.Tree()
			return s.Recovery == tree.Fair && s.Links == tree.Paper && s.Members == 150 &&
				s.Between == 10*time.Minute && s.Backups == 2 &&
				s.Timers == tree.Timers{
					Commit: 3950 * time.Millisecond, Token: 3950 * time.Millisecond,
					Reconnection: 1480 * time.Millisecond, Liveness: leastAnswer,
				}
		},
		"policy=tree recovery=baseline timeout=320ms latency=100ms jitter=100ms": func(p *Parameters) bool {
			s := p.Tree()
			return s.Recovery == tree.Baseline && s.Timers.Commit == 320*time.Millisecond &&
				s.Timers.Liveness == 800*time.Millisecond
		},
		"policy=tree links=udp loss=1% backups=20": func(p *Parameters) bool {
			s := p.Tree()
			return s.Links == tree.UDP && s.Network == sim.Network{Latency: time.Millisecond, Loss: 0.01} &&
				s.Backups == 20
		},
	} {
		p, err := read(t, "", strings.Fields(text)...)
		if err != nil || !want(&p) {
			t.Errorf("%s: %+v, %v", text, p.Tree(), err)
		}
	}
}

func TestATreeRefusesWhatItDoesNotHave(t *testing.T) {
	_, err := read(t, "", "policy=tree", "request=q", "loss=1%")
	want := []string{"--request: policy tree has no such parameter, only ring has: leave it out"}
	if got := problems(t, err); !slices.Contains(got, want[0]) {
		t.Errorf("%q lacks %q", got, want)
	}
}
