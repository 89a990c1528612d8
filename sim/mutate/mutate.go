// Package mutate makes new scenarios out of those that a hunt has kept: it changes a few values, takes parts of another
// scenario, or lets the same world draw something else from some moment on.
//
// It knows no protocol: it works on the parameters that package reduce writes to files, and its scenarios pass the
// checks of their family, like those that a person has written.
package mutate

import (
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/reduce"
)

// attempts is how many changes are tried until one passes the checks of its family.
const attempts = 16

// Change returns a scenario that differs a little from s. other is one from which parts may be taken; at is when
// something new happened in s: what is drawn from about then on may be drawn again.
func Change[S any, P reduce.Scenario[S]](s, other S, at time.Duration, d sim.Dice) S {
	for range attempts {
		next := s
		m := mutation{d, &next, &other, at}
		for more := true; more; more = d.Sometimes(severalShare) {
			m.once()
		}
		if P(&next).Check() == nil && !reflect.DeepEqual(next, s) {
			return next
		}
	}
	next := s
	m := mutation{d, &next, &other, at}
	m.again()
	return next
}

// severalShare is the share of the changes after which there is one more.
const severalShare = 0.35

// mutation changes one scenario, a pointer to a struct.
type mutation struct {
	sim.Dice
	scenario, other any
	at              time.Duration
}

// once makes one change.
func (m *mutation) once() {
	switch p := m.Float64(); {
	case p < 0.40:
		m.later()
	case p < 0.50:
		m.again()
	case p < 0.75:
		m.splice()
	case p < 0.95:
		m.value()
	default:
		m.remove()
	}
}

// seedKey and reseedTable are the parameters that only move what is drawn.
const (
	seedKey     = "seed"
	reseedTable = "reseed"
)

// seed draws a seed that fits a file.
func (m *mutation) seed() uint64 { return m.Uint64() >> 1 }

// again gives the scenario another seed.
func (m *mutation) again() {
	find(m.scenario, seedKey).SetUint(m.seed())
}

// later lets the world draw something else from about the moment on at which something new happened, mostly from a
// little before.
func (m *mutation) later() {
	at := find(m.scenario, reseedTable+".at")
	if !at.IsValid() || m.at <= 0 {
		m.again()
		return
	}
	share := 1 - m.Float64()*m.Float64()*0.5
	if m.Sometimes(0.2) {
		share += 0.2 * m.Float64()
	}
	at.SetInt(max(int64(share*float64(m.at)), 1))
	find(m.scenario, reseedTable+"."+seedKey).SetUint(m.seed())
}

// find returns the parameter of that name.
func find(scenario any, name string) reflect.Value {
	all, _ := reduce.Parameters(scenario)
	for _, p := range all {
		if p.Name == name {
			return p.Value
		}
	}
	return reflect.Value{}
}

// drawn reports whether a parameter only moves what is drawn.
func drawn(name string) bool { return name == seedKey || strings.HasPrefix(name, reseedTable) }

// splice takes a table or a single parameter of the other scenario.
func (m *mutation) splice() {
	mine, tables := reduce.Parameters(m.scenario)
	theirs, others := reduce.Parameters(m.other)
	if m.Sometimes(0.5) {
		mine, theirs = tables, others
	}
	i := m.among(len(mine), func(i int) bool {
		return !drawn(mine[i].Name) && !(mine[i].Value.IsZero() && theirs[i].Value.IsZero())
	})
	if i >= 0 {
		mine[i].Value.Set(theirs[i].Value)
	}
}

// remove sets a table or a parameter to zero.
func (m *mutation) remove() {
	mine, tables := reduce.Parameters(m.scenario)
	if m.Sometimes(0.5) {
		mine = tables
	}
	i := m.among(len(mine), func(i int) bool { return !drawn(mine[i].Name) && !mine[i].Value.IsZero() })
	if i >= 0 {
		mine[i].Value.SetZero()
	}
}

// among draws a number below n for which something holds; -1 if there is none.
func (m *mutation) among(n int, holds func(i int) bool) int {
	var fit []int
	for i := range n {
		if holds(i) {
			fit = append(fit, i)
		}
	}
	if len(fit) == 0 {
		return -1
	}
	return fit[m.IntN(len(fit))]
}

// most is by which factor a number changes at most.
const most = 4

// value changes one value that is not zero.
func (m *mutation) value() {
	mine, _ := reduce.Parameters(m.scenario)
	i := m.among(len(mine), func(i int) bool {
		v := mine[i].Value
		return !drawn(mine[i].Name) && (v.Kind() == reflect.Bool || (v.CanInt() || v.CanFloat()) && !v.IsZero())
	})
	if i < 0 {
		return
	}
	factor := m.Share(1.0/most, most)
	switch v := mine[i].Value; {
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.CanFloat():
		v.SetFloat(v.Float() * factor)
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(min(float64(v.Int())*factor, math.MaxInt64/2)))
	case m.Sometimes(0.5):
		v.SetInt(v.Int() + 1)
	default:
		v.SetInt(max(v.Int()-1, 1))
	}
}
