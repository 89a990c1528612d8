package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Dice draws the parameters of a scenario.
type Dice struct{ *rand.Rand }

// NewDice returns dice for a seed. Dice with different labels are independent.
func NewDice(seed, label uint64) Dice { return Dice{rand.New(rand.NewPCG(seed, Mix(label)))} }

// Sometimes reports true with probability p.
func (d Dice) Sometimes(p float64) bool { return d.Float64() < p }

// Share draws a number from a range. Each doubling is equally likely: between 1 and 2 is as likely as between 2 and 4.
func (d Dice) Share(from, to float64) float64 {
	return from * math.Pow(to/from, d.Float64())
}

// Maybe draws such a number with probability p; otherwise it returns zero.
func (d Dice) Maybe(p, from, to float64) float64 {
	if !d.Sometimes(p) {
		return 0
	}
	return d.Share(from, to)
}

// Time draws a time from a range in the same way.
func (d Dice) Time(from, to time.Duration) time.Duration {
	return time.Duration(d.Share(float64(from), float64(max(from, to))))
}
