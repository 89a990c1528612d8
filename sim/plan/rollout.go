package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/seeds"
)

// Rollout describes how a release goes through the fleet: at its beginning all members need a run, stage by stage, and
// each has one. With windows, it begins when they open. Times are in seconds.
//
// The machines are those of the agent, and are told whether they are ready as the agent tells them. A host that is down
// runs nothing and counts for max_down. Its machine goes on, so the token is not lost with it: what that costs is in
// Loss.
type Rollout struct {
	// Simulated is how many releases were simulated, and Finished how many of them came to their end within the work.
	Simulated int `json:"simulated"`
	Finished  int `json:"finished"`
	// Mean and Longest are the time until all members that are up have run, their soaks included.
	Mean    float64 `json:"mean_s"`
	Longest float64 `json:"longest_s"`
	// Stages has the same for each stage.
	Stages []RolloutStage `json:"stages"`
	// Open is the share of time in which few enough members are down, by theory; OpenSeen is the same as simulated.
	Open     float64 `json:"open"`
	OpenSeen float64 `json:"open_seen"`
	// Waited is for how long all tokens together wait for a busy zone in a release, and PutOff how many runs are put
	// off because their zones stay busy; on average, and absent without zones.
	Waited float64 `json:"waited_for_zones_s,omitempty"`
	PutOff float64 `json:"put_off,omitempty"`
	// Nights counts the releases by the nights that they took; absent without windows.
	Nights map[int]int `json:"nights,omitempty"`
}

// RolloutStage is a stage: its members, and the mean time from the release to its end.
type RolloutStage struct {
	Members int     `json:"members"`
	Mean    float64 `json:"mean_s"`
}

const (
	// mostRollouts is the number of releases that are simulated, rolloutWork that of their steps.
	mostRollouts = 8
	rolloutWork  = 2_000_000
	// announced is how long it takes until a stage knows that the one before it has ended.
	announced = 3 * time.Second
	// firstWait is how long a member that is down holds up the next stage: the agent's default.
	firstWait = time.Hour
	// longestRollout bounds a release, as a multiple of the time that it takes in theory.
	longestRollout = 5
)

// stageSizes returns the number of members of each stage.
func (w *Request) stageSizes() (sizes []int) {
	rest := w.Members
	for _, n := range w.First {
		sizes = append(sizes, n)
		rest -= n
	}
	return append(sizes, rest)
}

// leastRound is the least time in which all members run, stage by stage.
func (w *Request) leastRound() float64 {
	rounds := 0.0
	for _, size := range w.stageSizes() {
		rounds += math.Ceil(float64(size) / float64(w.slots()))
	}
	return rounds * w.Op.Seconds()
}

// othersDown is how many other members may be down when one starts; negative if there is no limit. With several slots,
// the hosts that may run under the other tokens count as down.
func (w *Request) othersDown() int {
	if w.MaxDown == 0 {
		return -1
	}
	return w.MaxDown - w.slots()
}

// open is the share of time in which few enough other members are down: each is down for a share of its time, whatever
// the others do.
func (w *Request) open() float64 {
	if w.othersDown() < 0 || w.FailsEvery == 0 {
		return 1
	}
	down := w.DownFor.Seconds() / (w.DownFor + w.FailsEvery).Seconds()
	p, n := math.Pow(1-down, float64(w.Members-1)), 0.0
	for k := 0; k <= w.othersDown(); k++ {
		n += p
		p *= float64(w.Members-1-k) / float64(k+1) * down / (1 - down)
	}
	return n
}

// simulateRollouts simulates releases; the result is nil if there is nothing that delays one.
func simulateRollouts(ctx context.Context, w *Request, k *Constants) (*Rollout, error) {
	if len(w.First) == 0 && w.Soak == 0 && w.MaxDown == 0 && w.Zones == 0 {
		return nil, nil
	}
	all, err := seeds.Across(ctx, 0, nil, mostRollouts, func(ctx context.Context, job int) (release, error) {
		return simulateRelease(ctx, w, k, w.Seed+uint64(job))
	})
	if err != nil {
		return nil, err
	}
	r := &Rollout{Simulated: mostRollouts, Open: w.open()}
	for _, size := range w.stageSizes() {
		r.Stages = append(r.Stages, RolloutStage{Members: size})
	}
	for _, one := range all {
		r.OpenSeen += one.open / mostRollouts
		r.Waited, r.PutOff = r.Waited+one.waited/mostRollouts, r.PutOff+one.putOff/mostRollouts
		if !one.finished {
			continue
		}
		r.Finished++
		last := one.ends[len(one.ends)-1]
		r.Mean, r.Longest = r.Mean+last, max(r.Longest, last)
		for i, end := range one.ends {
			r.Stages[i].Mean += end
		}
		if one.nights > 0 {
			if r.Nights == nil {
				r.Nights = make(map[int]int)
			}
			r.Nights[one.nights]++
		}
	}
	if n := float64(r.Finished); n > 0 {
		r.Mean /= n
		for i := range r.Stages {
			r.Stages[i].Mean /= n
		}
	}
	return r, nil
}

// release is the result of one seed: when each stage has ended, and the share of time in which few enough were down.
type release struct {
	finished bool
	ends     []float64
	open     float64
	nights   int
	// waited and putOff are what zones cost.
	waited, putOff float64
}

// rollout is one simulated release.
type rollout struct {
	w    *Request
	c    *sim.Cluster
	dice *rand.Rand
	// stageOf is the stage of each member, and stage the last one that may run.
	stageOf []int
	stage   int
	// started, done and down describe the members, downAt is when each went down. left is how many of a stage are to
	// run, and idle how many of these are down.
	started, done, down []bool
	downAt              []policy.Time
	left, idle          []int
	downs               int
	begins              policy.Time
	last                policy.Time
	ends                []float64
	over                bool
	// barredAt is since when too many are down; barred is for how long they were, before.
	barredAt policy.Time
	barred   time.Duration
	// zones is nil without zones.
	zones *busyZones
}

// newRollout returns a release whose cluster has still to be made.
func newRollout(w *Request, seed uint64) *rollout {
	n, sizes := w.Members, w.stageSizes()
	r := &rollout{
		w: w, dice: rand.New(rand.NewPCG(seed, 0x7374616765)), stageOf: make([]int, n), stage: -1,
		started: make([]bool, n), done: make([]bool, n), down: make([]bool, n), downAt: make([]policy.Time, n),
		left: slices.Clone(sizes), idle: make([]int, len(sizes)), barredAt: policy.Never,
	}
	place := r.dice.Perm(n)
	for stage, at := 0, 0; stage < len(sizes); stage++ {
		for range sizes[stage] {
			r.stageOf[place[at]] = stage
			at++
		}
	}
	r.zones = newBusyZones(w, r.dice, place)
	return r
}

func simulateRelease(ctx context.Context, w *Request, k *Constants, seed uint64) (release, error) {
	r := newRollout(w, seed)
	seeded, horizon := *w, seconds(longestRollout*w.leastRound()/max(w.open(), 0.01)+24*3600)
	seeded.Seed = seed
	nights := nightsOf(w.Windows)
	if len(nights) > 0 {
		r.begins, horizon = nights[0].opens, nights[len(nights)-1].closes.Sub(nights[0].opens)
	}
	r.c = nightWorld(&seeded, k, sim.WatcherFunc(r.watch), within(ctx, new(uint64(rolloutWork))))
	r.c.At(r.begins, func() { r.next(0) })
	if w.FailsEvery > 0 && w.MaxDown > 0 {
		for i := range w.Members {
			r.beginLife(i)
		}
	}
	err := r.c.Run(r.begins.Add(horizon))
	if err != nil && !errors.Is(err, errSpent) && !errors.Is(err, errOver) {
		return release{}, err
	}
	lasted := max(r.c.Now().Sub(r.begins), 1)
	if r.barredAt < policy.Never {
		r.barred += r.c.Now().Sub(max(r.barredAt, r.begins))
	}
	a := release{finished: r.over, ends: r.ends, open: 1 - r.barred.Seconds()/lasted.Seconds()}
	if z := r.zones; z != nil {
		a.waited, a.putOff = z.waited.Seconds(), float64(z.puts)
	}
	for _, night := range nights {
		if night.opens <= r.last {
			a.nights++
		}
	}
	return a, nil
}

// errOver ends a simulation when the release is over.
var errOver = errors.New("the release is over")

// tell tells a member's machine whether it may run.
func (r *rollout) tell(i int, may bool) {
	if m, ok := r.c.Machine(i).(policy.Askable); ok {
		m.SetReady(may, may)
	}
}

// tooMany reports whether too many members are down.
func (r *rollout) tooMany() bool { return r.w.othersDown() >= 0 && r.downs > r.w.othersDown() }

// tellAll tells all members that have still to run whether they may.
func (r *rollout) tellAll() {
	for i := range r.done {
		r.tellAgain(i)
	}
}

// tellAgain tells a member that has still to run whether it may.
func (r *rollout) tellAgain(i int) {
	if !r.started[i] {
		putOff := r.zones != nil && r.zones.putOff[i]
		r.tell(i, r.stageOf[i] <= r.stage && !r.down[i] && !r.tooMany() && !putOff)
	}
}

// next lets a stage begin.
func (r *rollout) next(stage int) {
	r.stage = stage
	r.tellAll()
	r.consider()
}

// consider ends the stage if nobody holds up the next one.
func (r *rollout) consider() {
	if r.over || r.stage < 0 || len(r.ends) > r.stage || r.left[r.stage] > r.idle[r.stage] {
		return
	}
	last := r.stage == len(r.left)-1
	for i, done := range r.done {
		away := r.down[i] && !r.started[i] && (last || r.c.Now().Sub(r.downAt[i]) >= firstWait)
		if !done && r.stageOf[i] <= r.stage && !away && (last || r.stageOf[i] == r.stage) {
			return
		}
	}
	r.ends = append(r.ends, r.c.Now().Sub(r.begins).Seconds())
	if last {
		r.over = true
		return
	}
	stage := r.stage + 1
	r.c.After(announced, func() { r.next(stage) })
}

func (r *rollout) watch(c *sim.Cluster, o *sim.Occurrence) error {
	if r.over {
		return errOver
	}
	i := o.Member
	if r.c = c; o.On(policy.Started) {
		r.tell(i, false)
	}
	if o.EndsRun() && r.started[i] && !r.done[i] {
		r.done[i] = true
		r.left[r.stageOf[i]]--
		if r.zones != nil {
			if next, ok := r.zones.leave(i); ok {
				r.starts(next)
			}
		}
		r.consider()
	}
	if o.Does(policy.Run) && !r.started[i] &&
		(r.zones == nil || r.zones.enter(c, i, func(i int) { r.tell(i, false) }, r.tellAgain)) {
		r.starts(i)
	}
	return nil
}

// starts records that a member's run begins.
func (r *rollout) starts(i int) {
	if r.down[i] {
		r.idle[r.stageOf[i]]--
	}
	r.started[i], r.last = true, r.c.Now()
	r.tell(i, false)
}

// beginLife lets a host be up or down at first, as in the long run, and then fail again and again.
func (r *rollout) beginLife(i int) {
	down := r.w.DownFor.Seconds() / (r.w.DownFor + r.w.FailsEvery).Seconds()
	r.c.At(0, func() { r.change(i, r.dice.Float64() < down) })
}

// change takes a host down or up, until the next change.
func (r *rollout) change(i int, down bool) {
	if r.over {
		return
	}
	before := r.tooMany()
	if r.down[i] != down {
		r.downs += map[bool]int{true: 1, false: -1}[down]
	}
	if r.down[i] != down && !r.started[i] {
		r.idle[r.stageOf[i]] += map[bool]int{true: 1, false: -1}[down]
	}
	r.down[i], r.downAt[i] = down, r.c.Now()
	lasts := r.w.FailsEvery
	if down {
		lasts = r.w.DownFor
		r.c.After(firstWait, r.consider)
	}
	switch is := r.tooMany(); {
	case is != before:
		if is {
			r.barredAt = r.c.Now()
		} else {
			r.barred += max(r.c.Now().Sub(max(r.barredAt, r.begins)), 0)
			r.barredAt = policy.Never
		}
		r.tellAll()
	default:
		r.tellAgain(i)
	}
	if down {
		r.consider()
	}
	r.c.After(seconds(r.dice.ExpFloat64()*lasts.Seconds()), func() { r.change(i, !down) })
}

func (r *Rollout) text(w *Request) string {
	if r.Finished == 0 {
		return fmt.Sprintf("not seen to its end in %d simulations, within the work: in theory it takes %s or more.",
			r.Simulated, spoken(w.leastRound()/r.Open))
	}
	text := fmt.Sprintf("after %s all that are up have it (longest of %d: %s)", spoken(r.Mean), r.Finished,
		spoken(r.Longest))
	if len(r.Stages) > 1 {
		var parts []string
		for i, s := range r.Stages[:len(r.Stages)-1] {
			parts = append(parts, fmt.Sprintf("stage %d (%d) after %s", i+1, s.Members, spoken(s.Mean)))
		}
		text += ": " + strings.Join(parts, ", ")
	}
	if r.Finished < r.Simulated {
		text += fmt.Sprintf("; %d more did not come to their end within the work", r.Simulated-r.Finished)
	}
	if w.Zones > 0 {
		text += fmt.Sprintf("; all tokens together wait for busy zones for %s, and %.0f runs are put off",
			spoken(r.Waited), r.PutOff)
	}
	if r.Nights != nil {
		text += fmt.Sprintf("; one night is enough for %d of %d", r.Nights[1], r.Simulated)
	}
	return text + "."
}

// cost describes what max_down costs.
func (r *Rollout) cost(w *Request) string {
	return fmt.Sprintf("With a host down every %s for %s, a run may start for %s of the time (max_down %d; simulated: "+
		"%s).", written(w.FailsEvery), written(w.DownFor), percent(r.Open), w.MaxDown, percent(r.OpenSeen))
}
