package plan

import (
	"context"
	"math"

	"github.com/wanderd/wanderd/sim/measure"
)

// Answer is what the fleet will do. Times are in seconds, shares between 0 and 1; a figure that nothing was measured for is
// null in JSON.
type Answer struct {
	Wish Wish `json:"wish"`
	// Met says that every member will run every Every on average. Changes has what would do where the load or the walk is too
	// much; a network that loses tokens is another reason, and then there are none.
	Met     bool     `json:"met"`
	Changes []Change `json:"changes"`
	// Warnings are sentences about what is likely not to be wanted.
	Warnings  []string  `json:"warnings"`
	Constants Constants `json:"constants"`
	// Load is op × members / (every × slots): for what share of the time each token must be in use. LoadInForce is the same by
	// min_interval.
	Load        float64 `json:"load"`
	LoadInForce float64 `json:"load_by_min_interval"`
	// FirstRound is how long it takes at least until all have run, after all members have started at once.
	FirstRound float64 `json:"first_round_s"`
	// Expected is the fleet in the long run, Twice the one of twice the members with the same constants.
	Expected Forecast `json:"expected"`
	Traffic  Traffic  `json:"traffic"`
	Loss     Loss     `json:"killed_holder"`
	Twice    Forecast `json:"twice_the_members"`
	// TOML and Command are the constants as a part of a configuration file, and as a command line.
	TOML    string `json:"toml"`
	Command string `json:"command"`
}

// Plan answers a wish. It simulates the fleet, with the machines that an agent runs, on all cores, for an amount of work that
// does not depend on the wish: some seconds. The answer depends on nothing but the wish. An [*Impossible] says what is wrong
// with the wish; the only other error is that of ctx.
func Plan(ctx context.Context, w Wish) (Answer, error) { return planWithin(ctx, w, usualWork()) }

// effort is how many steps of machines may be simulated.
type effort struct {
	// fleet and twice are for the fleet and the one of twice the size; inquest is for what follows a loss.
	fleet, inquest, twice uint64
}

// usualWork takes two or three seconds of one core's time, where guardians are simulated some more, and half as long on two.
func usualWork() effort { return effort{fleet: 2_000_000, inquest: 900_000, twice: 1_000_000} }

func planWithin(ctx context.Context, w Wish, e effort) (Answer, error) {
	if err := w.check(); err != nil {
		return Answer{}, err
	}
	k, fits := recommend(&w)
	once, twice := newFleet(&w, w.Members, &k), newFleet(&w, 2*w.Members, &k)
	a := Answer{
		Wish: w, Changes: []Change{}, Constants: k,
		Load: once.theory.load(w.Every.Seconds()), LoadInForce: once.theory.load(k.MinInterval.Seconds()),
		FirstRound: math.Ceil(float64(w.Members)/float64(w.slots())) * w.Op.Seconds(),
		TOML:       toml(&k), Command: command(&k),
	}
	if !fits {
		a.Changes = changes(&w, k.Skip)
	}
	tasks, bereaved := tasksFor(&once, &twice, e)
	runs, err := simulateAll(ctx, w.Seed, tasks)
	if err != nil {
		return Answer{}, err
	}
	a.Expected, a.Twice = forecast(&once, runs[0]), forecast(&twice, runs[1])
	a.Loss = lossOf(&w, &k, runs[bereaved])
	a.Traffic = trafficOf(w.Members, float64(a.Expected.Datagrams.Mean))
	a.Met = fits && !a.late()
	a.Warnings = warnings(&a, fits)
	return a, nil
}

// tasksFor returns what is to be simulated: the fleet first, then the one of twice the size, and which of them is bereaved of
// its holder. Without guardians that is the fleet in the long run, as what follows depends on who is due by then; with
// guardians it is one of its own.
func tasksFor(once, twice *fleet, e effort) (all []task, bereaved int) {
	share := uint64(1)
	if once.guarded {
		share = guardedWork
	}
	all = []task{{fleet: *once, budget: share * e.fleet}, {fleet: *twice, budget: share * e.twice}}
	if once.constants.Backups == 0 {
		all[0].inquest = e.inquest
		return all, 0
	}
	return append(all, task{fleet: *once, inquest: e.inquest}), len(all)
}

// Forecast is what a fleet does in the long run, as measured in the simulation.
type Forecast struct {
	Members int     `json:"members"`
	Load    float64 `json:"load_by_min_interval"`
	// FromTheory says that hardly anybody ran in the simulation, or that there was none, because it would take too long. Then
	// Busy, Wait and Interval are theory's, and where there was no time to send anything, Datagrams too.
	FromTheory bool `json:"from_theory"`
	// Busy is the share of time for which a token is in use: in which somebody runs, if there is one. Overlap is the share in which
	// more run than there are slots.
	Busy    measure.Estimate `json:"busy"`
	Overlap measure.Estimate `json:"overlap"`
	// Wait is from when a member becomes due to when it runs, Interval that between two of its runs.
	Wait     Quantiles `json:"wait_s"`
	Interval Quantiles `json:"interval_s"`
	// Datagrams is how many all members send together, a second.
	Datagrams measure.Estimate `json:"datagrams_per_s"`
	// FalseAlarms and Lost are how many tokens a day are made or revived although there is one, and are lost to the network.
	FalseAlarms measure.Estimate `json:"false_alarms_per_day"`
	Lost        measure.Estimate `json:"tokens_lost_per_day"`
	Theory      Theory           `json:"theory"`
	Simulated   Simulated        `json:"simulated"`
}

// Theory is what a closed form says of the same fleet without faults: a mean field, good for ten members or more.
type Theory struct {
	Busy     float64 `json:"busy"`
	Wait     float64 `json:"mean_wait_s"`
	Interval float64 `json:"mean_interval_s"`
	// Lap is how long the token takes until it has been everywhere.
	Lap float64 `json:"lap_s"`
}

// Simulated is what a forecast rests on.
type Simulated struct {
	Seeds int `json:"seeds"`
	// Duration is the virtual time of all seeds together.
	Duration   float64 `json:"virtual_s"`
	Operations int     `json:"operations"`
	Steps      uint64  `json:"steps"`
}

// Loss is what happens when the holder of a token is killed, from one such loss for each seed. With guardians, one of them takes
// the token up again. Without, nothing can run until a member takes it for lost. By then nearly everybody is due, and several may
// make a new token before the first one has been everywhere: then several run at once for a while.
type Loss struct {
	// Samples is how many losses were simulated.
	Samples int `json:"samples"`
	// Silence is how long there was one token less, or none: in the middle of the samples, and at worst.
	Silence        measure.Number `json:"silence_s"`
	LongestSilence measure.Number `json:"longest_silence_s"`
	// Crowd is how many then ran at once, at worst.
	Crowd int `json:"most_at_once"`
	// Recovered is in how many of the samples there was one token for each slot again, for good, before the work was done, and Recovery how
	// long after the loss that was, in the middle of these.
	Recovered int            `json:"recovered"`
	Recovery  measure.Number `json:"recovery_s"`
	// ShortestMaxInterval is a max_interval that would shorten the silence without guardians, and still give about one false
	// alarm in every at most.
	ShortestMaxInterval float64 `json:"shortest_max_interval_s"`
}
