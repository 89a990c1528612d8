package plan

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// paperRequest is the paper's fleet (Ciuffoletti, table 2).
func paperRequest(members int) *Request {
	return &Request{Members: members, Op: 4 * time.Second, Every: 600 * time.Second, Latency: time.Nanosecond}
}

// hungry returns the share of visits at which the token finds a member due.
func (t theory) hungry(busy float64) float64 { return busy / t.op * t.hop(busy) }

// PAPERS: "a hungry share h with h = (1+3h)/(5+3h), so h = 1/3 and 66.7 % busy", and 84.5 % for 300 members.
func TestTheoryIsThePapersClosedForm(t *testing.T) {
	for members, want := range map[int]float64{150: 2.0 / 3, 300: 0.845} {
		k := newTheory(paperRequest(members), members, time.Second)
		busy := k.busy(600)
		if math.Abs(busy-want) > 0.003 {
			t.Errorf("%d members: busy %.4f, want %.4f", members, busy, want)
		}
		h, n := k.hungry(busy), float64(members)
		if general := n * (1 + 3*h) / (600 + n*(1+3*h)); math.Abs(h-general) > 0.003 {
			t.Errorf("%d members: h is %.4f, and the equation has %.4f", members, h, general)
		}
	}
}

func TestIntervalIsMinIntervalAndAWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := theory{
			walk: rapid.SampledFrom(wander.Walks()).
				Draw(t, "walk"), members: float64(rapid.IntRange(2, 20000).Draw(t, "members")),
			skip: rapid.Float64Range(0.05, 100).Draw(t, "skip"), op: rapid.Float64Range(0.01, 1e5).Draw(t, "op"),
			handoff: rapid.Float64Range(0, 1).Draw(t, "handoff"),
			slots:   float64(rapid.IntRange(1, wire.MaxSlots).Draw(t, "slots")),
		}
		k.slots = min(k.slots, k.members)
		minInterval := k.members * k.op / k.slots / rapid.Float64Range(0.01, 5).Draw(t, "load")
		busy := k.busy(minInterval)
		switch interval, wait := k.interval(busy), k.wait(busy); {
		case busy <= 0 || busy > k.fullest():
			t.Fatalf("busy %v of %v", busy, k.fullest())
		case interval < minInterval*(1-1e-9):
			t.Fatalf("interval %v, min_interval %v", interval, minInterval)
		case busy < k.fullest()*(1-1e-9) && math.Abs(interval-minInterval-wait) > 1e-6*interval:
			t.Fatalf("interval %v is not min_interval %v and a wait of %v", interval, minInterval, wait)
		}
		if more := k.busy(minInterval * 1.01); more > busy*(1+1e-9) {
			t.Fatalf("a longer min_interval makes the fleet busier: %v after %v", more, busy)
		}
	})
}

// Theory and machines agree within two points, including sampling noise, from a fleet that hardly ever runs to one that
// could run twice as often. The waits agree within a tenth, or within half an operation. Only a sweep at a load of
// exactly one is left out: as runs vary, every other round of it takes longer than min_interval.
func TestTheoryAgreesWithTheMachines(t *testing.T) {
	for _, walk := range wander.Walks() {
		for _, members := range []int{40, 150} {
			for _, load := range []float64{0.1, 0.3, 0.6, 0.9, 1, 1.1, 1.4, 2} {
				if walk != wander.Sweep || load != 1 {
					agree(t, walk, members, 1, load)
				}
			}
			for _, slots := range []int{2, 4} {
				agree(t, walk, members, slots, 0.3)
				agree(t, walk, members, slots, 0.8)
				agree(t, walk, members, slots, 1.4)
			}
		}
	}
}

func agree(t *testing.T, walk wander.Walk, members, slots int, load float64) {
	t.Run(fmt.Sprintf("%v/N=%d/slots=%d/load=%v", walk, members, slots, load), func(t *testing.T) {
		t.Parallel()
		w := paperRequest(members)
		w.Walk, w.Slots = walk, slots
		k := Constants{
			Walk: walk, Skip: time.Second, Op: w.Op,
			MinInterval:        time.Duration(float64(members) / float64(slots) / load * float64(w.Op)),
			DefaultMaxInterval: true, Slots: slots,
		}
		f := newFleet(w, members, &k)
		r, err := f.simulate(t.Context(), 1, 200_000, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(inUse(&r.figures, slots)); math.Abs(got-f.busy()) > 0.02 {
			t.Errorf("busy %.4f, in theory %.4f", got, f.busy())
		}
		got, want := float64(mean(r.waits)), f.wait()
		if slack := 0.1*want + max(0.01*k.MinInterval.Seconds(), k.Op.Seconds()/2); math.Abs(got-want) > slack {
			t.Errorf("members wait %.1f s, in theory %.1f s", got, want)
		}
	})
}
