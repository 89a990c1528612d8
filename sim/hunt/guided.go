package hunt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/mutate"
	"github.com/wanderd/wanderd/sim/reduce"
	"github.com/wanderd/wanderd/sim/seeds"
	"github.com/wanderd/wanderd/sim/trace"
)

// A guided hunt keeps the worlds in which one rare branch followed another for the first time, and makes most of its
// worlds out of these.
//
// Worlds have numbers, and come in batches: a world is made of its number, the hunt's first seed, and what the batches
// before have left. So a hunt is the same on any number of cores, also if it is interrupted and goes on.

// batch is how many worlds are made at once.
const batch = 32

// freshShare is the share of the worlds that are drawn, and not made out of others.
const freshShare = 0.25

// mostOccurrences ends a run that takes much longer than those that are drawn: it counts as one that breaks no rule.
const mostOccurrences = 1_000_000

// errTooLong ends a run that is not worth its time.
var errTooLong = errors.New("too long")

// kept is a world that has reached something new, and when it did last.
type kept[S any] struct {
	scenario S
	at       time.Duration
	pairs    []uint16
	steps    uint64
	// score is how much it is worth to go on from it: see [guide.judge].
	score float64
}

// guide makes the worlds of one guided hunt.
type guide[S any, P reduce.Scenario[S]] struct {
	subject *Subject
	draw    func(seed uint64) S
	explore func(s *S, watchers ...sim.Watcher) wandering.Outcome
	from    uint64
	// made is how many worlds were made, known what they have reached; worlds are those that were kept.
	made   uint64
	known  marks.Set
	worlds []kept[S]
	// often is how many worlds have reached each pair. total is the sum of the scores.
	often [1 << 16]uint32
	total float64
}

// guideLabel sets the dice of guided hunts apart from those of scenarios.
const guideLabel = 130

// make makes a world.
func (g *guide[S, P]) make(number uint64) S {
	d := sim.NewDice(g.from, guideLabel+sim.Mix(number))
	if len(g.worlds) == 0 || d.Sometimes(freshShare) {
		return g.draw(g.from + number)
	}
	other := g.draw(d.Uint64() >> 1)
	if d.Sometimes(0.5) {
		other = g.pick(d).scenario
	}
	parent := g.pick(d)
	return mutate.Change[S, P](parent.scenario, other, parent.at, d)
}

// pick draws one of the kept worlds, by their scores.
func (g *guide[S, P]) pick(d sim.Dice) *kept[S] {
	left := d.Float64() * g.total
	for i := range g.worlds {
		if left -= g.worlds[i].score; left < 0 {
			return &g.worlds[i]
		}
	}
	return &g.worlds[len(g.worlds)-1]
}

// judge gives the kept worlds their scores: the rarer a world's pairs are, and the fewer steps it takes, the more often
// others are made out of it.
func (g *guide[S, P]) judge() {
	g.total = 0
	for i := range g.worlds {
		w := &g.worlds[i]
		w.score = 0
		for _, pair := range w.pairs {
			w.score += 1 / float64(g.often[pair])
		}
		w.score /= float64(w.steps + leastSteps)
		g.total += w.score
	}
}

// leastSteps is how many steps the making of a world costs, about.
const leastSteps = 500

// ran is what came of a world.
type ran struct {
	outcome wandering.Outcome
	marks   *marks.Set
	// at is when something new happened last.
	at policy.Time
}

// run explores a world, beside what is known.
func (g *guide[S, P]) run(s S) *ran {
	r, happened, fresh := &ran{marks: marks.Beside(&g.known)}, 0, 0
	bound := sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if n := r.marks.Fresh(); n > fresh {
			fresh, r.at = n, o.At
		}
		if happened++; happened > mostOccurrences {
			return errTooLong
		}
		return nil
	})
	r.outcome = caught(func() wandering.Outcome { return g.explore(&s, sim.Listen(r.marks), bound) })
	if errors.Is(r.outcome.Err, errTooLong) {
		r.outcome.Err = nil
	}
	return r
}

// hunt hunts until all worlds were explored, one has broken a rule, or ctx is done. A batch counts as a whole: what has
// begun when ctx is done comes again when the hunt goes on.
func (g *guide[S, P]) hunt(ctx context.Context, o *Options) *Report {
	r := &Report{Marks: &marks.Set{}, Names: g.subject.marks, guide: g}
	for left := o.Seeds; ctx.Err() == nil && r.Failure == nil && (o.Seeds == 0 || left > 0); {
		n := uint64(batch)
		if o.Seeds > 0 {
			n = min(n, left)
			left -= n
		}
		worlds := make([]S, n)
		g.judge()
		for i := range worlds {
			worlds[i] = g.make(g.made + uint64(i))
		}
		results, err := seeds.Across(ctx, o.Workers, nil, len(worlds), func(_ context.Context, i int) (*ran, error) {
			return g.run(worlds[i]), nil
		})
		if err != nil {
			break
		}
		for i, one := range results {
			g.count(r, worlds[i], one)
			if o.Progress != nil && (r.Failure == nil || r.Failure.World == g.made) {
				o.Progress(r)
			}
		}
	}
	return r
}

// count counts a world, and keeps it if it has reached something new. One that breaks a rule is not kept.
func (g *guide[S, P]) count(r *Report, s S, one *ran) {
	g.made++
	r.Seeds++
	r.Steps += one.outcome.Steps
	r.Simulated += time.Duration(one.outcome.At).Seconds()
	r.Marks.Add(one.marks)
	fresh := g.known.Add(one.marks) > 0
	pairs := slices.Collect(one.marks.Each)
	for _, pair := range pairs {
		g.often[pair]++
	}
	switch err := one.outcome.Err; {
	case err == nil && fresh:
		g.worlds = append(g.worlds, kept[S]{
			scenario: s, at: time.Duration(one.at), pairs: pairs, steps: one.outcome.Steps,
		})
	case err != nil && r.Failure == nil:
		r.Failure = g.failure(g.made, s, err)
	}
	r.Kept = len(g.worlds)
}

// failure runs a world again, with a trace.
func (g *guide[S, P]) failure(number uint64, s S, err error) *Failure {
	tail := trace.NewTail(traceLines)
	caught(func() wandering.Outcome { return g.explore(&s, trace.NewTrace(tail, g.subject.Words)) })
	about := fmt.Sprintf("%v\nWorld %d of the guided hunt from seed %d.", reduce.FirstLine(err), number, g.from)
	return &Failure{
		Seed: g.from, World: number, Err: err, Trace: tail.String(),
		Parameters: trace.Parameters(s), Scenario: reduce.Text(about, g.subject.kind, &s),
		Replay:  fmt.Sprintf("wanderd sim hunt%s --guided --seed %d --seeds %d", g.subject.flags, g.from, number),
		Smaller: func() string { return reduced[S, P](g.subject, s, g.explore) },
	}
}

// reduced writes a smaller scenario that breaks the same rule.
func reduced[S any, P reduce.Scenario[S]](f *Subject, s S, explore func(*S, ...sim.Watcher) wandering.Outcome) string {
	r := reduce.Smaller[S, P](s, func(s *S, watchers ...sim.Watcher) error { return explore(s, watchers...).Err })
	return r.Text(f.kind)
}
