package plan

import (
	"context"

	"github.com/wanderd/wanderd/sim/measure"
)

// Result describes what the fleet will do. Times are in seconds, shares are between 0 and 1. A figure without a
// measurement is null in JSON.
type Result struct {
	Request Request `json:"wish"`
	// Met is true if every member will run every Every on average. If the load is too high or the walk too slow,
	// Changes lists what would help. If the network loses too many tokens, Changes is empty.
	Met     bool     `json:"met"`
	Changes []Change `json:"changes"`
	// Warnings are sentences about effects that the operator probably does not want.
	Warnings  []string  `json:"warnings"`
	Constants Constants `json:"constants"`
	// Load is op × members / (every × slots): the share of time for which each token must be in use. LoadInForce is the
	// same with min_interval in place of every.
	Load        float64 `json:"load"`
	LoadInForce float64 `json:"load_by_min_interval"`
	// FirstRound is the least time until all members have run, if they all start at once.
	FirstRound float64 `json:"first_round_s"`
	// Nights reports whether every member gets its turn while the windows are open. It is nil if they are always open.
	Nights *Nights `json:"nights,omitempty"`
	// Zones are the bounds of what per_zone costs; nil without zones.
	Zones *Zones `json:"zones,omitempty"`
	// Rollout is how a release goes through the fleet; nil without stages, soak and max_down.
	Rollout *Rollout `json:"rollout,omitempty"`
	// Expected describes the fleet in the long run. Twice describes a fleet of twice the members with the same
	// constants.
	Expected Forecast `json:"expected"`
	Traffic  Traffic  `json:"traffic"`
	Loss     Loss     `json:"killed_holder"`
	Twice    Forecast `json:"twice_the_members"`
	// TOML and Command are the constants as a part of a configuration file, and as a command line.
	TOML    string `json:"toml"`
	Command string `json:"command"`
}

// Plan answers a request. It simulates the fleet on all cores, with the machines that an agent runs. The work does not
// depend on the request and takes some seconds; the result depends only on the request. The error is an [*Impossible],
// which lists what is wrong with the request, or that of ctx.
func Plan(ctx context.Context, w Request) (Result, error) {
	// This takes two or three seconds on one core, half as long on two, and more if guardians are simulated.
	return planWithin(ctx, w, effort{fleet: 2_000_000, lossExperiment: 900_000, twice: 1_000_000})
}

// effort limits the number of simulated steps.
type effort struct {
	// fleet is for the fleet, and twice for one of twice the size. lossExperiment is for the time after a loss.
	fleet, lossExperiment, twice uint64
}

func planWithin(ctx context.Context, w Request, e effort) (Result, error) {
	if err := w.check(); err != nil {
		return Result{}, err
	}
	asked := w
	w = w.held()
	k, fits := recommend(&w)
	double, kTwice := w, k
	kTwice.Slots = slotsOf(2*w.Members, k.Slots, k.SlotsShare)
	double.Slots, double.SlotsShare = kTwice.Slots, 0
	once, twice := newFleet(&w, w.Members, &k), newFleet(&double, 2*w.Members, &kTwice)
	a := Result{
		Request: asked, Changes: []Change{}, Constants: k,
		Load: once.theory.load(w.Every.Seconds()), LoadInForce: once.theory.load(k.MinInterval.Seconds()),
		FirstRound: w.leastRound(), Zones: zonesOf(&w),
		TOML: toml(&k), Command: command(&k),
	}
	if !fits {
		a.Changes = changes(&w, k.Skip)
	}
	tasks, killed := tasksFor(&once, &twice, e)
	runs, err := simulateAll(ctx, w.Seed, tasks)
	if err != nil {
		return Result{}, err
	}
	a.Expected, a.Twice = forecast(&once, runs[0]), forecast(&twice, runs[1])
	a.Loss = lossOf(&w, &k, runs[killed])
	if a.Nights, err = simulateNights(ctx, &w, &k); err != nil {
		return Result{}, err
	}
	if a.Rollout, err = simulateRollouts(ctx, &w, &k); err != nil {
		return Result{}, err
	}
	a.Traffic = trafficOf(w.Members, float64(a.Expected.Datagrams.Mean))
	a.Met = fits && a.Zones.suffice() && !a.late() &&
		(a.Nights == nil || a.Nights.suffice() || w.Every > eachNight(w.Windows))
	a.Warnings = warnings(&a, fits)
	return a, nil
}

// tasksFor returns the simulations: first the fleet, then the one of twice the size. killed is the index of the one
// whose holder is killed. Without guardians that is the fleet in the long run, because recovery depends on which
// members are due by then; with guardians it is a third one.
func tasksFor(once, twice *fleet, e effort) (all []task, killed int) {
	share := uint64(1)
	if once.guarded {
		share = guardedWork
	}
	all = []task{{fleet: *once, budget: share * e.fleet}, {fleet: *twice, budget: share * e.twice}}
	if once.constants.Backups == 0 {
		all[0].lossExperiment = e.lossExperiment
		return all, 0
	}
	return append(all, task{fleet: *once, lossExperiment: e.lossExperiment}), len(all)
}

// Forecast describes a fleet in the long run, as measured in the simulation.
type Forecast struct {
	Members int     `json:"members"`
	Load    float64 `json:"load_by_min_interval"`
	// FromTheory is true if the simulation would take too long, or saw too few runs. Then Busy, Wait and Interval come
	// from theory, and Datagrams too if nothing was sent.
	FromTheory bool `json:"from_theory"`
	// Busy is the share of time in which a token is in use. With one slot, that is the share in which a member runs.
	// Overlap is the share in which more members run than there are slots.
	Busy    measure.Estimate `json:"busy"`
	Overlap measure.Estimate `json:"overlap"`
	// Wait is the time from when a member becomes due to its run. Interval is the time between two of its runs.
	Wait     Quantiles `json:"wait_s"`
	Interval Quantiles `json:"interval_s"`
	// Datagrams is the number of datagrams that all members together send in a second.
	Datagrams measure.Estimate `json:"datagrams_per_s"`
	// FalseAlarms counts the tokens a day that are made or revived although one exists. Lost counts those that the
	// network loses.
	FalseAlarms measure.Estimate `json:"false_alarms_per_day"`
	Lost        measure.Estimate `json:"tokens_lost_per_day"`
	Theory      Theory           `json:"theory"`
	Simulated   Simulated        `json:"simulated"`
}

// Theory is a closed form for the same fleet without faults: a mean field, good for ten members or more.
type Theory struct {
	Busy     float64 `json:"busy"`
	Wait     float64 `json:"mean_wait_s"`
	Interval float64 `json:"mean_interval_s"`
	// Lap is the time until the token has visited every member.
	Lap float64 `json:"lap_s"`
}

// Simulated is how much simulation a forecast rests on.
type Simulated struct {
	Seeds int `json:"seeds"`
	// Duration is the virtual time of all seeds together.
	Duration   float64 `json:"virtual_s"`
	Operations int     `json:"operations"`
	Steps      uint64  `json:"steps"`
}

// Loss describes what happens when the holder of a token is killed, once for each seed. With guardians, one of them
// revives the token. Without guardians, nothing runs until a member concludes that the token is lost. By then nearly
// all members are due, and several may make a new token before the first one has visited them: then several run at once
// for a while.
type Loss struct {
	// Samples is the number of simulated losses.
	Samples int `json:"samples"`
	// Silence is the time with one token fewer, or none: the median of the samples. LongestSilence is the maximum.
	Silence        measure.Number `json:"silence_s"`
	LongestSilence measure.Number `json:"longest_silence_s"`
	// Crowd is the greatest number of members that then ran at once.
	Crowd int `json:"most_at_once"`
	// Recovered counts the samples that came back to one token for each slot, for good, within the work. Recovery is
	// the median time from the loss until then.
	Recovered int            `json:"recovered"`
	Recovery  measure.Number `json:"recovery_s"`
	// ShortestMaxInterval is a max_interval that shortens the silence without guardians, and still gives at most about
	// one false alarm in each every.
	ShortestMaxInterval float64 `json:"shortest_max_interval_s"`
}
