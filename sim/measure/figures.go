package measure

import (
	"encoding/json"
	"math"
	"strconv"
)

// Set is the figures of one run, if T is [Number], or those of many, if it is [Estimate]. Times are in seconds. A
// figure that does not exist, as the median of nothing, is null in JSON.
type Set[T any] struct {
	// Duration is the time that was measured, WarmUp the time before it that was not.
	Duration T `json:"duration_s"`
	WarmUp   T `json:"warm_up_s"`
	// Concurrency is for how long how many operations ran at once. Utilisation is the share of time with at least one,
	// Overlap the share with more than there are slots: two or more, where there is one.
	Concurrency Table[T] `json:"concurrency_s"`
	Utilisation T        `json:"utilisation"`
	Overlap     T        `json:"overlap"`
	// Operations is how many operations started.
	Operations T            `json:"operations"`
	Interval   Intervals[T] `json:"interval_s"`
	Tokens     Tokens[T]    `json:"tokens"`
	// Hops is how many handoffs ended well; Messages is how many datagrams the members sent, repeats included.
	Hops                 T `json:"hops"`
	Messages             T `json:"messages"`
	MessagesPerOperation T `json:"messages_per_operation"`
	// Recovery is how long it took from a loss of the last token of a slot until the moment from which exactly one
	// token of each existed, for at least max_interval: "duration of stabilization after a token loss" (Ciuffoletti,
	// table 5), which the paper does not define. What happens before the fleet is stable again is part of the same
	// recovery.
	Recovery Spread[T] `json:"recovery_s"`
	// Tokenless is how long it took, each time, from there being no token of a slot until there was the next one.
	Tokenless Spread[T] `json:"tokenless_s"`
	// HeldAgain is how long it took, after each loss of the last token of a slot, until somebody held one again;
	// OneForGood until the moment from which there was exactly one, for at least min_interval or until the next loss.
	HeldAgain  Spread[T] `json:"held_again_s"`
	OneForGood Spread[T] `json:"one_for_good_s"`
}

// numbers are all figures that are one number, tables the others.
func (s *Set[T]) numbers() []*T {
	i, t := &s.Interval, &s.Tokens
	all := []*T{
		&s.Duration, &s.WarmUp, &s.Utilisation, &s.Overlap, &s.Operations, &i.P50, &i.P90, &i.P99, &i.Max, &i.Open,
		&t.Generated, &t.Revived, &t.Removed, &t.Lost, &s.Hops, &s.Messages, &s.MessagesPerOperation,
	}
	for _, d := range []*Spread[T]{&s.Recovery, &s.Tokenless, &s.HeldAgain, &s.OneForGood} {
		all = append(all, &d.Count, &d.P50, &d.P90, &d.Max)
	}
	return all
}

func (s *Set[T]) tables() []*Table[T] {
	return []*Table[T]{&s.Concurrency, &s.Interval.Histogram, &s.Tokens.Live}
}

// Figures are the figures of one run.
type Figures = Set[Number]

// Summary has the estimates of many runs that differ only in their seed.
type Summary = Set[Estimate]

// Intervals is the distribution of the times between two starts of the operation on one member.
type Intervals[T any] struct {
	P50 T `json:"p50"`
	P90 T `json:"p90"`
	P99 T `json:"p99"`
	Max T `json:"max"`
	// Open is the longest time since an operation started on a member that is up, at the end: an interval that is not
	// over counts nowhere else, and a member that starves has no other.
	Open T `json:"open"`
	// Histogram counts the intervals by bins, each called by where it begins; empty ones are left out.
	Histogram Table[T] `json:"histogram"`
}

// Tokens is what became of the tokens. At any time those that are alive, less those that were when the measurement
// began, are Generated + Revived − Removed − Lost.
type Tokens[T any] struct {
	Generated T `json:"generated"`
	// Revived were revived by a guardian.
	Revived T `json:"revived"`
	// Removed were discarded because another one precedes them, or a copy has overtaken them.
	Removed T `json:"removed"`
	// Lost were given up by a sender and never held again, or held by a member that crashed or whose host was asleep.
	Lost T `json:"lost"`
	// Live is for how long how many were alive: held, or given up by a sender and not yet lost to the receiver.
	Live Table[T] `json:"live_s"`
}

// Spread is a distribution of few samples.
type Spread[T any] struct {
	Count T `json:"count"`
	P50   T `json:"p50"`
	P90   T `json:"p90"`
	Max   T `json:"max"`
}

// Number is a figure; NaN if it does not exist.
type Number float64

// MarshalJSON writes a number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Table is a figure for each of some keys, in their order.
type Table[T any] []Entry[T]

// Entry is one line of a [Table].
type Entry[T any] struct {
	Key   float64
	Value T
}

// MarshalJSON writes an object whose keys are in the order of the numbers they are.
func (t Table[T]) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, e := range t {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendQuote(out, strconv.FormatFloat(e.Key, 'f', -1, 64))
		value, err := json.Marshal(e.Value)
		if err != nil {
			return nil, err
		}
		out = append(append(out, ':'), value...)
	}
	return append(out, '}'), nil
}

// At returns the value for a key, or the zero value.
func (t Table[T]) At(key float64) T {
	for _, e := range t {
		if e.Key == key {
			return e.Value
		}
	}
	var zero T
	return zero
}
