package wander

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// fleet is the paper's (Ciuffoletti, table 2).
func fleet(members int) Scenario {
	return Scenario{
		Seed: 1, Members: members, TokenInPlace: true, Skip: time.Second, Op: 4 * time.Second,
		MinInterval: 600 * time.Second, MaxInterval: 1800 * time.Second,
		Network: sim.Network{Latency: time.Millisecond}, Hook: sim.Hook{Takes: 4 * time.Second},
		Duration: 20_000 * time.Second,
	}
}

func TestAMeasurementLastsItsDurationAndReportsOnTheWay(t *testing.T) {
	s := fleet(20)
	var reached []policy.Time
	counter := &counting{}
	end, err := s.Measure(t.Context(), func(now policy.Time) { reached = append(reached, now) }, counter)
	if err != nil || end != policy.Time(s.Duration) {
		t.Fatalf("it ends at %s with %v", sim.Seconds(end), err)
	}
	if len(reached) < 2 || !slices.IsSorted(reached) {
		t.Errorf("progress: %v", reached)
	}
	c := s.NewCluster()
	s.start(c)
	if err := c.Run(end); err != nil || counter.steps != c.Steps() {
		t.Errorf("%d steps were watched, and %d taken; %v", counter.steps, c.Steps(), err)
	}
}

func TestAMeasurementThatIsCancelledSaysHowFarItCame(t *testing.T) {
	s := fleet(20)
	ctx, cancel := context.WithCancel(t.Context())
	end, err := s.Measure(ctx, func(policy.Time) { cancel() })
	if !errors.Is(err, context.Canceled) || end <= 0 || end >= policy.Time(s.Duration) {
		t.Errorf("it ends at %s with %v", sim.Seconds(end), err)
	}
}

func TestAMeasurementEndsWithTheErrorOfAWatcher(t *testing.T) {
	s := fleet(20)
	end, err := s.Measure(t.Context(), nil, &counting{objectAt: 1000})
	if !errors.Is(err, errObjection) || end >= policy.Time(s.Duration) {
		t.Errorf("it ends at %s with %v", sim.Seconds(end), err)
	}
}

// counting counts steps, and returns an error at one of them.
type counting struct{ steps, objectAt uint64 }

var errObjection = errors.New("an objection")

func (k *counting) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	// A save that takes no time is reported by a step of its own, which counts as a part of the step before.
	if o.Kind == sim.Stepped && !o.AtOnce {
		k.steps++
	}
	if k.objectAt > 0 && k.steps == k.objectAt {
		return errObjection
	}
	return nil
}

func TestATokenInPlaceIsTheOnlyOneAndThereAtOnce(t *testing.T) {
	s := fleet(50)
	later := &Coverage{}
	c := s.NewCluster(append(s.Checkers(), later)...)
	s.start(c)
	if st := c.Status(0); !st.Holding || st.Phase != "running" {
		t.Errorf("the first member: %s", c.Machine(0))
	}
	*later = Coverage{}
	if err := c.Run(policy.Time(1700 * time.Second)); err != nil {
		t.Fatal(err)
	}
	notes := &later.counts[classNote]
	if notes[wander.NoteCreated]+notes[wander.NoteRegenerated] > 0 || notes[wander.NoteArrived] < 100 {
		t.Errorf("later there are others:\n%v", later)
	}
}

func TestThePlannedPartitionPartsItsShareForItsTime(t *testing.T) {
	for _, random := range []time.Duration{0, 200 * time.Second} {
		s := fleet(40)
		s.Duration = 2000 * time.Second
		s.Faults.CutEvery, s.Faults.CutFor = random, time.Second
		s.Faults.Partition = sim.Partition{At: 500 * time.Second, For: 300 * time.Second, Share: 0.25}
		p := &parting{at: policy.Time(500 * time.Second)}
		if _, err := s.Measure(t.Context(), nil, p); err != nil {
			t.Fatal(err)
		}
		if p.apart != 10 || p.healed != policy.Time(800*time.Second) {
			t.Errorf("random cuts every %v: %d members are apart until %s, want 10 until 800 s", random, p.apart,
				sim.Seconds(p.healed))
		}
	}
}

// parting watches a division of the network that begins at a given time.
type parting struct {
	at     policy.Time
	apart  int
	healed policy.Time
}

func (p *parting) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	switch {
	case o.Kind == sim.Cut && o.At == p.at:
		for i := range c.Members() {
			if !c.Reaches(0, i) {
				p.apart++
			}
		}
		p.apart = min(p.apart, c.Members()-p.apart)
	case o.Kind == sim.Healed && o.At > p.at && p.healed == 0:
		p.healed = o.At
	}
	return nil
}
