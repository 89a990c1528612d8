package follow

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/bubble"
)

// agent is a source whose token goes from one of three members to the next each second, and runs at m2.
type agent struct {
	begun  time.Time
	fleets int
	// silent is for how long it does not answer.
	silent time.Duration
}

func (a *agent) err() error {
	if time.Since(a.begun) < a.silent {
		return errors.New("no agent")
	}
	return nil
}

func (a *agent) holder() control.Holder {
	names := []string{"m1", "m2", "m3"}
	name := names[int(time.Since(a.begun)/time.Second)%len(names)]
	return control.Holder{Gate: "sync", Name: name, Member: name, Running: name == "m2"}
}

func (a *agent) Now(context.Context) (control.Now, error) {
	return control.Now{Tokens: []control.Holder{a.holder()}}, a.err()
}

func (a *agent) Fleet(context.Context) (control.Fleet, error) {
	a.fleets++
	return control.Fleet{Asked: time.Now(), Now: control.Now{Tokens: []control.Holder{a.holder()}}}, a.err()
}

// follow follows a fleet for a while.
func follow(t *testing.T, src *agent, d time.Duration) (seen []Snapshot) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	Follow(ctx, src, func(s Snapshot) { seen = append(seen, s) })
	return seen
}

func TestTheTokenIsSeenAsItGoesRound(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := &agent{begun: time.Now()}
		seen := follow(t, src, 30*time.Second)
		last := seen[len(seen)-1]
		if got := last.Tokens[0].Trail; len(got) != trail || got[len(got)-1] != last.Tokens[0].Name {
			t.Errorf("trail %q", got)
		}
		for i := 1; i < trail; i++ {
			if got := last.Tokens[0].Trail; got[i] == got[i-1] || trail > 3 && i >= 3 && got[i] != got[i-3] {
				t.Errorf("trail %q", got)
			}
		}
		if len(seen) < 59 {
			t.Errorf("%d snapshots in 30 s", len(seen))
		}
		// Later snapshots do not change one that was handed out.
		if got := seen[3].Tokens[0].Trail; !slices.Equal(got, []string{"m1", "m2"}) {
			t.Errorf("the trail after 1.5 s: %q", got)
		}
	})
}

// All members are asked now and then, and when a run has ended, because its result is new.
func TestAllAreAskedNowAndThenAndAfterARun(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := &agent{begun: time.Now()}
		seen := follow(t, src, 30*time.Second)
		// The run at m2 ends every three seconds.
		if src.fleets < 10 || src.fleets > 12 {
			t.Errorf("all were asked %d times in 30 s", src.fleets)
		}
		for _, s := range seen {
			if age := s.At.Sub(s.Fleet.Asked); age > fleetEvery {
				t.Errorf("an answer is %v old", age)
			}
		}
	})
}

func TestAnAgentThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := &agent{begun: time.Now(), silent: 2 * time.Second}
		seen := follow(t, src, 4*time.Second)
		if seen[0].Error != "no agent" || seen[len(seen)-1].Error != "" || len(seen[len(seen)-1].Tokens) == 0 {
			t.Errorf("%+v", seen)
		}
	})
}
