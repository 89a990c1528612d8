package measure

import (
	"encoding/json"
	"math"
	"strconv"
)

// Set has the figures of one run, if T is [Number], or of many runs, if T is [Estimate]. Times are in seconds. A figure
// that does not exist, like the median of nothing, is null in JSON.
type Set[T any] struct {
	// Duration is the time that was measured. WarmUp is the time before it that was not.
	Duration T `json:"duration_s"`
	WarmUp   T `json:"warm_up_s"`
	// Concurrency is, for each number of operations, for how long that many ran at once. Utilisation is the share of
	// time with at least one operation. Overlap is the share of time with more operations than slots: two or more, if
	// there is one slot.
	Concurrency Table[T] `json:"concurrency_s"`
	Utilisation T        `json:"utilisation"`
	Overlap     T        `json:"overlap"`
	// Operations is how many operations started.
	Operations T            `json:"operations"`
	Interval   Intervals[T] `json:"interval_s"`
	Tokens     Tokens[T]    `json:"tokens"`
	// Hops is how many handoffs ended well. Messages is how many datagrams the members sent, including repetitions.
	Hops                 T `json:"hops"`
	Messages             T `json:"messages"`
	MessagesPerOperation T `json:"messages_per_operation"`
	// Recovery is the time from a loss of the last token of a slot until the moment from which exactly one token of
	// each slot existed, for at least max_interval: "duration of stabilization after a token loss" (Ciuffoletti, table
	// 5), which the paper does not define. What happens before the fleet is stable again is part of the same recovery.
	Recovery Spread[T] `json:"recovery_s"`
	// Tokenless is the time from each moment at which a slot had no token left until it had the next one.
	Tokenless Spread[T] `json:"tokenless_s"`
	// HeldAgain is the time from each loss of the last token of a slot until a member held one again. OneForGood is the
	// time until the moment from which there was exactly one, for at least min_interval or until the next loss.
	HeldAgain  Spread[T] `json:"held_again_s"`
	OneForGood Spread[T] `json:"one_for_good_s"`
}

// numbers returns all figures that are one number; tables returns the others.
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
	// Open is the longest time since an operation started on a member that is up, at the end. An interval that is not
	// over counts nowhere else, and a member that starves has no other interval.
	Open T `json:"open"`
	// Histogram counts the intervals by bins. The key of a bin is where it begins. Empty bins are left out.
	Histogram Table[T] `json:"histogram"`
}

// Tokens is what became of the tokens. At any time the number of live tokens, less the number of those that lived when
// the measurement began, is Generated + Revived − Removed − Lost.
type Tokens[T any] struct {
	Generated T `json:"generated"`
	// Revived counts the tokens that a guardian revived, and those that came back with their hosts.
	Revived T `json:"revived"`
	// Removed counts the tokens that were discarded because another one precedes them, or because a copy has overtaken
	// them.
	Removed T `json:"removed"`
	// Lost counts the tokens that a sender gave up and no member held again, and those whose holder crashed or had its
	// host suspended.
	Lost T `json:"lost"`
	// Live is, for each number of tokens, for how long that many were alive: held, or given up by a sender and not yet
	// lost to the receiver.
	Live Table[T] `json:"live_s"`
}

// Spread is a distribution of few samples.
type Spread[T any] struct {
	Count T `json:"count"`
	P50   T `json:"p50"`
	P90   T `json:"p90"`
	Max   T `json:"max"`
}

// Number is a figure. It is NaN if the figure does not exist.
type Number float64

// MarshalJSON writes a number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Table has a figure for each of some keys, in the order of the keys.
type Table[T any] []Entry[T]

// Entry is one line of a [Table].
type Entry[T any] struct {
	Key   float64
	Value T
}

// MarshalJSON writes an object whose keys are in numerical order.
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
