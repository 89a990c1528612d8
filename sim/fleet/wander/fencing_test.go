package wander

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/wire"
)

// resource is what the operation works on. It checks the fencing number: it refuses each call with a lower number than
// it has seen. Each run calls it twice, when it starts and when it ends.
type resource struct {
	c       *sim.Cluster
	highest wire.Seq
	running map[int]wire.Seq
	// starts and ends count the calls that were served. The others count those that were refused.
	starts, ends, refusedStarts, refusedEnds int
}

func (r *resource) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	r.c = c
	if o.Ends() {
		delete(r.running, o.Member) // The hook dies with its agent.
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	if seq, ok := r.running[o.Member]; ok && o.Event.Kind == policy.Finished {
		delete(r.running, o.Member)
		r.call(seq, &r.ends, &r.refusedEnds)
	}
	for i := range o.Effects {
		if e := &o.Effects[i]; e.Kind == policy.Run {
			r.running[o.Member] = e.Token.Seq
			r.call(e.Token.Seq, &r.starts, &r.refusedStarts)
		}
	}
	return nil
}

func (r *resource) call(seq wire.Seq, served, refused *int) {
	if seq < r.highest {
		*refused++
		return
	}
	r.highest = seq
	*served++
}

// fenced is a small fleet whose runs call a resource.
func fenced(seed uint64) (Scenario, *resource) {
	s := Scenario{
		Seed: seed, Members: 10, Skip: time.Second, Op: 4 * time.Second, MinInterval: 40 * time.Second,
		Walk: wander.Sweep, Backups: 2, WaitAlone: true, Duration: 2 * time.Hour,
		Network: sim.Network{Latency: time.Millisecond, Encode: true},
		Membership: sim.Membership{
			GossipAfter: time.Second, DetectAfter: 5 * time.Second, RejoinAfter: 5 * time.Second,
		},
		Hook: sim.Hook{Takes: 4 * time.Second, Spread: 0.5},
	}
	return s, &resource{running: map[int]wire.Seq{}}
}

// A resource that refuses lower numbers serves every grant of a fleet whose members crash and come back: the number
// rises across handoffs, revivals and restarts.
func TestTheFencingNumberRisesAcrossRevivalsAndRestarts(t *testing.T) {
	revived := 0
	seeds := deep.Of(2, 4, 10)
	for seed := uint64(1); seed <= uint64(seeds); seed++ {
		s, r := fenced(seed)
		s.Faults = sim.Faults{CrashEvery: 1000 * time.Second, DownFor: 30 * time.Second, MidStep: 0.5}
		var v Coverage
		if o := s.Explore(r, &v); o.Err != nil {
			t.Fatal(o.Err)
		}
		if r.refusedStarts+r.refusedEnds > 0 || r.starts < 500 {
			t.Errorf("seed %d: %d calls served, %d refused", seed, r.starts+r.ends, r.refusedStarts+r.refusedEnds)
		}
		revived += int(v.counts[classNote][wander.NoteRevived])
	}
	if revived < seeds {
		t.Errorf("only %d tokens were revived", revived)
	}
}

// A holder that stands still in mid-run loses its token without knowing it. When it goes on, its call is refused if
// another member has run since.
func TestAResourceRefusesAHolderThatStoodStill(t *testing.T) {
	s, r := fenced(1)
	stopped := false
	c := s.NewCluster(r)
	s.start(c)
	for !stopped {
		if err := c.Run(c.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		for member := range r.running {
			c.Pause(member, 30*time.Second)
			stopped = true
		}
	}
	if err := c.Run(c.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if r.refusedEnds != 1 || r.refusedStarts != 0 {
		t.Errorf("%d ends and %d starts were refused", r.refusedEnds, r.refusedStarts)
	}
}

// A soft gate does not guarantee that calls are served one at a time. If two members hold a token each, in two parts of
// a network that both reach the resource, they take turns in being served as long as their numbers do.
func TestNumbersDoNotMakeASoftGateALock(t *testing.T) {
	s, r := fenced(1)
	together := measure.NewConcurrency()
	s.Faults.Partition = sim.Partition{At: 100 * time.Second, For: 1000 * time.Second, Share: 0.5}
	if o := s.Explore(r, together); o.Err != nil {
		t.Fatal(o.Err)
	}
	overlap := time.Duration(0)
	for n, d := range together.Spent(r.c.Now()) {
		if n > 1 {
			overlap += d
		}
	}
	if overlap == 0 || r.refusedStarts+r.refusedEnds == 0 || r.starts < 500 {
		t.Errorf("%v of overlap; %d calls refused of %d", overlap, r.refusedStarts+r.refusedEnds, r.starts+r.ends)
	}
}
