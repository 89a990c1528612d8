package hosts_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// judge looks from outside whether the first process of each host is up, every 50 ms, and notes whenever two hosts are
// away at once. It asks no agent.
type judge struct {
	fleet []*host
	// firmware is how long a host is off before it starts again.
	firmware time.Duration

	mu sync.Mutex
	// away has since when a host is away, and gone the hosts whose power is lost, which nobody waits for any longer.
	away map[*host]time.Time
	gone map[*host]bool
	// went are the hosts that have gone down, in that order.
	went []down
	// fails is true if the next host that goes down loses its power, and stays away.
	fails bool
	wrong []string

	stop    chan struct{}
	working sync.WaitGroup
}

type down struct {
	*host
	at time.Time
}

// judged starts a judge, and what starts the hosts of a fleet again after their reboots, until the end of the test.
func judged(t *testing.T, fleet []*host) *judge {
	t.Helper()
	j := &judge{
		fleet: fleet, firmware: time.Second, away: make(map[*host]time.Time), gone: make(map[*host]bool),
		stop: make(chan struct{}),
	}
	j.working.Go(func() {
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			select {
			case <-tick.C:
				j.look(time.Now())
			case <-j.stop:
				return
			}
		}
	})
	t.Cleanup(func() {
		close(j.stop)
		j.working.Wait()
	})
	return j
}

func (j *judge) look(now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var away []string
	for _, h := range j.fleet {
		since, was := j.away[h]
		switch up := h.isUp(); {
		case up && was:
			delete(j.away, h)
			delete(j.gone, h)
		case !up && !was:
			j.away[h] = now
			j.went = append(j.went, down{h, now})
			if j.fails {
				j.gone[h], j.fails = true, false
				h.powerOff()
			} else {
				j.working.Go(func() { j.restart(h) })
			}
			since = now
		}
		// A host that stays away counts while its grant is kept, which is from when it was last heard.
		if _, is := j.away[h]; is && !(j.gone[h] && now.Sub(since) > keptFor*3/4) {
			away = append(away, h.name)
		}
	}
	if len(away) > 1 {
		j.wrong = append(j.wrong, fmt.Sprintf("%s: %s are away", now.Format(time.TimeOnly),
			strings.Join(away, " and ")))
	}
}

// restart does what a host's firmware does: it starts a host that has shut itself down.
func (j *judge) restart(h *host) {
	_ = h.container.Wait()
	select {
	case <-time.After(j.firmware):
		_ = h.start()
	case <-j.stop:
	}
}

// says fails the test if two hosts were away at once.
func (j *judge) says(t *testing.T) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.wrong) > 0 {
		t.Errorf("two hosts were away at once, in %d looks: first %s, last %s", len(j.wrong), j.wrong[0],
			j.wrong[len(j.wrong)-1])
	}
	j.wrong = nil
}

// downs are the hosts that have gone down since this was asked last.
func (j *judge) downs() []down {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]down(nil), j.went...)
}

// begins lets the judge count from here. If fails is true, the first host that goes down loses its power.
func (j *judge) begins(fails bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.went, j.fails = nil, fails
}
