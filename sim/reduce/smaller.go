package reduce

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Scenario is a pointer to a scenario of a family.
type Scenario[S any] interface {
	*S
	// Check returns what is wrong with a scenario that no seed has drawn: a run of it would not end, or the rules do
	// not hold in it.
	Check() error
}

// Result is a scenario that was made smaller.
type Result[S any] struct {
	Scenario S
	// Rule is the name of the rule that it breaks, and Err how it is broken.
	Rule string
	Err  error
	// Runs is how many runs that took. From is what it was made from.
	Runs int
	From string
}

// Text writes the scenario, with the rule that it breaks.
func (r *Result[S]) Text(kind string) string {
	about := "It breaks no rule."
	if r.Err != nil {
		about = FirstLine(r.Err)
	}
	about += fmt.Sprintf("\nMade smaller in %d runs, from %s.", r.Runs, r.From)
	return Text(about, kind, &r.Scenario)
}

// Rule returns the name of the rule that a run has broken: what stands before the first colon.
func Rule(err error) string {
	rule, _, _ := strings.Cut(err.Error(), ":")
	return rule
}

// FirstLine returns how a rule was broken, without the rest of what is known.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Explore runs a scenario, and returns the rule that it breaks.
type Explore[S any] func(s *S, watchers ...sim.Watcher) error

const (
	// mostOccurrences bounds what happens in all runs of a reduction together: some seconds' worth.
	mostOccurrences = 10_000_000
	// attempts is how many seeds are tried for what is taken away, and roundings for what is only made rounder.
	attempts, roundings = 8, 3
)

// Smaller returns a scenario that breaks the same rule as s with fewer members, a shorter duration, fewer faults and
// rounder numbers. It tries each change with the scenario's own seed and with the first few, because a change draws
// everything after it again. It ends when no change helps, or after so much as [mostOccurrences] allows.
func Smaller[S any, P Scenario[S]](s S, explore Explore[S]) Result[S] {
	r := &reducer[S, P]{explore: explore, left: mostOccurrences}
	r.each = mostOccurrences / 4
	err := r.run(&s)
	if err == nil {
		return Result[S]{Scenario: s, Runs: r.runs, From: size(s)}
	}
	r.now, r.rule, r.err, r.at, r.each = s, Rule(err), err, r.ended, 2*r.happened+1000
	for changed := true; changed && r.left > 0; {
		changed = r.shorten()
		changed = r.takeAway() || changed
		changed = r.fewer() || changed
		changed = r.rounder() || changed
	}
	return Result[S]{Scenario: r.now, Rule: r.rule, Err: r.err, Runs: r.runs, From: size(s)}
}

// size returns how large a scenario is.
func size(scenario any) string {
	copied := reflect.New(reflect.TypeOf(scenario)).Elem()
	copied.Set(reflect.ValueOf(scenario))
	all, _ := fields(copied)
	members, lasts, others := "", "", 0
	for _, f := range all {
		switch {
		case f.key == "members" && members == "":
			members = fmt.Sprintf("%v members", f.value)
		case f.key == "duration" && lasts == "":
			lasts = fmt.Sprintf(", %v", f.value)
		case !f.value.IsZero() && f.key != "seed":
			others++
		}
	}
	return fmt.Sprintf("%s%s and %d other parameters", members, lasts, others)
}

type reducer[S any, P Scenario[S]] struct {
	explore Explore[S]
	// now is the smallest scenario so far, err how it breaks the rule, and at when.
	now  S
	rule string
	err  error
	at   policy.Time
	// each bounds what happens in one run, left in all that are to come; happened is what did in the last one, and
	// ended when that was over.
	each, left, happened int
	ended                policy.Time
	runs                 int
}

var errTooLong = errors.New("too long: more happens than in the scenario before")

// run explores a scenario for as long as a run may take.
func (r *reducer[S, P]) run(s *S) (err error) {
	r.runs++
	r.happened = 0
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		r.left -= r.happened + 1000
	}()
	return r.explore(s, sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		r.ended = o.At
		if r.happened++; r.happened > r.each {
			return errTooLong
		}
		return nil
	}))
}

// try changes the scenario, and reports whether it still breaks the rule, with one of so many seeds. Then it stays so.
func (r *reducer[S, P]) try(seeds int, change func(s reflect.Value)) bool {
	candidate := r.now
	v := reflect.ValueOf(&candidate).Elem()
	change(v)
	if reflect.DeepEqual(candidate, r.now) || P(&candidate).Check() != nil {
		return false
	}
	seed, own := seedOf(v), seedOf(v).Uint()
	for k := range seeds {
		if k > 0 {
			seed.SetUint(uint64(k))
		}
		if k > 0 && uint64(k) == own {
			continue
		}
		if r.left <= 0 {
			return false
		}
		if err := r.run(&candidate); err != nil && Rule(err) == r.rule {
			r.now, r.err, r.at = candidate, err, r.ended
			return true
		}
	}
	return false
}

// seedOf returns the field Seed of a scenario, or of the scenario in it.
func seedOf(s reflect.Value) reflect.Value {
	if f := s.FieldByName("Seed"); f.IsValid() {
		return f
	}
	return seedOf(s.FieldByName("Scenario"))
}

// parameters are the parameters of the smallest scenario so far. Their values are copies.
func (r *reducer[S, P]) parameters() (all, tables []field) {
	now := r.now
	return fields(reflect.ValueOf(&now).Elem())
}

// change sets the parameter or table of that name.
func change(name string, to reflect.Value) func(reflect.Value) {
	return func(s reflect.Value) {
		all, tables := fields(s)
		for _, f := range slices.Concat(all, tables) {
			if f.name() == name {
				f.value.Set(to)
			}
		}
	}
}

// shorten ends the faults soon after the rule is broken, or as early as possible.
func (r *reducer[S, P]) shorten() (changed bool) {
	all, _ := r.parameters()
	at := slices.IndexFunc(all, func(f field) bool { return f.key == "duration" })
	if at < 0 {
		return false
	}
	name := all[at].name()
	was := time.Duration(all[at].value.Int())
	for _, to := range []time.Duration{was / 16, was / 4, was / 2, time.Duration(r.at) * 11 / 10, was * 3 / 4} {
		if to = rounded(to, 2, math.Round); to < was && r.try(attempts, change(name, reflect.ValueOf(to))) {
			return true
		}
	}
	return false
}

// takeAway sets whole tables, and then single parameters, to zero.
func (r *reducer[S, P]) takeAway() (changed bool) {
	all, tables := r.parameters()
	for _, f := range slices.Concat(tables, all) {
		if f.key != "seed" && !f.value.IsZero() {
			changed = r.try(attempts, change(f.name(), reflect.Zero(f.value.Type()))) || changed
		}
	}
	return changed
}

// fewer lowers counts, that of members first.
func (r *reducer[S, P]) fewer() (changed bool) {
	all, _ := r.parameters()
	for _, f := range all {
		if !f.value.CanInt() || f.value.Type() == duration || f.value.IsZero() {
			continue
		}
		was := f.value.Int()
		for _, to := range slices.Compact([]int64{1, 2, 3, was / 2, was - 1}) {
			if to > 0 && to < was && r.try(attempts, change(f.name(), reflect.ValueOf(to).Convert(f.value.Type()))) {
				changed = true
				break
			}
		}
	}
	return changed
}

// rounder writes durations and shares with fewer digits, and finds a small seed.
func (r *reducer[S, P]) rounder() (changed bool) {
	all, _ := r.parameters()
	for _, f := range all {
		switch {
		case f.key == "seed" && f.value.Uint() >= attempts:
			changed = r.try(2*attempts, change(f.name(), reflect.ValueOf(uint64(1)))) || changed
		case f.value.Type() == duration && !f.value.IsZero():
			to := func(digits int) any { return rounded(time.Duration(f.value.Int()), digits, math.Round) }
			if f.key == "duration" { // It is not made longer again.
				to = func(digits int) any { return rounded(time.Duration(f.value.Int()), digits, math.Floor) }
			}
			changed = r.round(&f, to) || changed
		case f.value.CanFloat() && !f.value.IsZero():
			changed = r.round(&f, func(digits int) any {
				return roundedShare(f.value.Float(), digits, math.Round)
			}) || changed
		}
	}
	return changed
}

func (r *reducer[S, P]) round(f *field, to func(digits int) any) bool {
	for digits := 1; digits <= 2; digits++ {
		v := reflect.ValueOf(to(digits)).Convert(f.value.Type())
		if v.Interface() == f.value.Interface() {
			return false
		}
		if r.try(roundings, change(f.name(), v)) {
			return true
		}
	}
	return false
}

// rounded returns a duration with so many digits that are not zero, counted in its largest unit.
func rounded(d time.Duration, digits int, round func(float64) float64) time.Duration {
	for _, unit := range []time.Duration{time.Hour, time.Minute, time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return time.Duration(math.Round(roundedShare(float64(d)/float64(unit), digits, round) * float64(unit)))
		}
	}
	return d
}

// roundedShare returns a number with so many digits.
func roundedShare(x float64, digits int, round func(float64) float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, float64(digits)-1-math.Floor(math.Log10(math.Abs(x))))
	return round(x*scale) / scale
}
