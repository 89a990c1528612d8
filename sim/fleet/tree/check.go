package tree

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// checker holds the rules of the paper's model: a network that is synchronous and loses nothing.
//
//   - "only one process can execute a critical section at a given time" (section 1)
//   - A token is made only where there is none: "the lost of the token uniqueness property" (section 4.1) is what the
//     election prevents.
//   - "fairness of token requests is preserved despite failures" (abstract): a section is begun by the site with the
//     smallest position. This holds for sites that have their COMMIT; a request without one has no place in the queue
//     yet.
//   - A live site that waits is not displaced by one without a position: it may only have lacked its COMMIT when that
//     searched.
//   - The number of the token rises from section to section.
//
// [Figures.Stuck] reports whether live sites are not served.
type checker struct {
	world *World
	// next is each site's next, as of its last step.
	next []wire.MemberID
	// seq is the number of the last section's token.
	seq wire.Seq
	// disturbed is true once a site has looked for a predecessor.
	disturbed bool
}

// Watch implements sim.Watcher.
func (k *checker) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped {
		return nil
	}
	if k.world.custody.falsely > 0 {
		return fmt.Errorf("token: %s makes one, and there is one", o.Who())
	}
	if err := k.displaced(o); err != nil {
		return err
	}
	if o.On(policy.Received) && o.Completes() && !o.Does(policy.Run) && k.world.scenario.Withdrawn == 0 {
		if k.world.machines[o.Member].Place().Asks && k.world.meter.wanted[o.Member] == policy.Never {
			return fmt.Errorf("place: %s asks for the token, and does not want it", o.Who())
		}
	}
	for e := range o.Did(policy.Tell) {
		k.disturbed = k.disturbed || e.Note == tree.NoteSuspected || e.Note == tree.NoteSearchPos ||
			e.Note == tree.NoteSearchQueue
	}
	for e := range o.Did(policy.Run) {
		if e.Token.Seq < k.seq {
			return fmt.Errorf("number: %s begins its section under %d, after one under %d", o.Who(), e.Token.Seq, k.seq)
		}
		k.seq = e.Token.Seq
		for other, running := range k.world.running {
			if running && other != o.Member && k.world.cluster.Up(other) {
				return fmt.Errorf("exclusion: %s and %s are in their sections", sim.MemberName(other), o.Who())
			}
		}
		if k.world.scenario.Recovery == tree.Fair {
			if err := k.order(o.Member); err != nil {
				return err
			}
		}
	}
	return nil
}

// displaced checks that a CONNECTION from a site without a position does not displace a live next.
func (k *checker) displaced(o *sim.Occurrence) error {
	if k.next == nil {
		k.next = make([]wire.MemberID, len(k.world.machines))
	}
	was := k.next[o.Member]
	k.next[o.Member] = k.world.machines[o.Member].Place().Next
	if o.Event.Kind != policy.Received || o.Event.Msg.Kind != tree.KindConnection || was.IsZero() ||
		k.next[o.Member] == was {
		return nil
	}
	old, from := sim.IndexOf(was), sim.IndexOf(o.Event.Msg.From)
	p, by := k.world.machines[old].Place(), k.world.machines[from].Place()
	if k.world.cluster.Up(old) && p.Asks && by.Pos < 0 && !k.next[o.Member].IsZero() {
		return fmt.Errorf("displaced: %s gives the place of %s, which is alive, to %s", o.Who(), sim.MemberName(old),
			sim.MemberName(from))
	}
	return nil
}

// order checks that no other site waits before the one that begins its section. After a failure, parts of the queue
// that have lost their predecessors are out of it until they have found another one. Then only the sites behind the one
// that begins count.
func (k *checker) order(member int) error {
	w := k.world
	mine := w.machines[member].Place().Pos
	behind := k.behind(member)
	for i, m := range w.machines {
		p := m.Place()
		if p.Waits && i != member && p.Pos < mine && w.cluster.Up(i) && (!k.disturbed || behind[i]) {
			return fmt.Errorf("order: %s begins its section at position %d, and %s waits at %d",
				sim.MemberName(member), mine, sim.MemberName(i), p.Pos)
		}
	}
	return nil
}

// behind returns the sites that follow a site in the next queue.
func (k *checker) behind(member int) map[int]bool {
	behind := map[int]bool{}
	for i := member; ; {
		next := k.world.machines[i].Place().Next
		if next.IsZero() || behind[sim.IndexOf(next)] || !k.world.cluster.Up(sim.IndexOf(next)) {
			return behind
		}
		i = sim.IndexOf(next)
		behind[i] = true
	}
}

// mostSteps is more steps than the largest of the drawn scenarios needs.
const mostSteps = 300_000

// endless checks that sites do not send messages for ever: no request walks in a circle.
func endless() sim.Watcher {
	steps := 0
	return sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if o.Kind != sim.Stepped {
			return nil
		}
		if steps++; steps > mostSteps {
			return fmt.Errorf("endless: %d steps, and the sites are not done", steps)
		}
		return nil
	})
}
