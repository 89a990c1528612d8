package wander

import (
	"fmt"
	"reflect"
	"time"

	"github.com/wanderd/wanderd/sim"
)

// maxMembers bounds the members of a fleet: each takes some 3 KiB.
const maxMembers = 10_000_000

// Impossible is an invalid parameter of a scenario. It is an error.
type Impossible struct {
	// Parameter is its name in [Scenario], as "Faults.Partition.Share".
	Parameter string
	// Why is a clause with its value and what it should be, without its name.
	Why string
}

// Error returns one sentence.
func (i Impossible) Error() string { return i.Parameter + " is " + i.Why }

// Impossible returns the invalid parameters, in their order in Scenario; nil if all are valid.
func (s *Scenario) Impossible() []Impossible {
	var found []Impossible
	object := func(wrong bool, parameter, format string, args ...any) {
		if wrong {
			found = append(found, Impossible{parameter, fmt.Sprintf(format, args...)})
		}
	}
	object(s.Members < 1 || s.Members > maxMembers, "Members", "%d: a fleet has from 1 to %d", s.Members, maxMembers)
	object(s.Skip == 0, "Skip", "0: must be greater than 0")
	object(s.Op == 0, "Op", "0: must be greater than 0")
	object(s.MinInterval < s.Op && !s.onDemand(), "MinInterval", "%v, less than Op, %v: an operation would be due again before it is over",
		s.MinInterval, s.Op)
	object(s.MaxInterval != 0 && s.MaxInterval < s.MinInterval, "MaxInterval",
		"%v, less than MinInterval, %v: tokens would be made for no reason; leave it out for a good one", s.MaxInterval, s.MinInterval)
	object(s.RetryAfter > 0 && s.onDemand(), "RetryAfter", "%v: on demand it is the callers who repeat what failed", s.RetryAfter)
	object(s.Ready != sim.Ready{} && s.onDemand(), "Ready", "%v: on demand nobody is asked but the callers", s.Ready)
	object(s.Ready.Timeout == 0 && s.Ready != sim.Ready{}, "Ready.Timeout", "0: the other settings of Ready need it")
	object(s.Demand.Every == 0 && s.Demand != sim.Demand{}, "Demand.Every", "0: the other settings of Demand need it")
	object(s.Demand.Withdrawn == 1, "Demand.Withdrawn", "1: must be less than 1, or no demand would be served")
	object(s.Duration == 0, "Duration", "0: must be greater than 0")
	object(s.TokenInPlace && s.StartWithin > 0, "TokenInPlace", "for fleets that start all at once: leave StartWithin out")
	object(s.TokenInPlace && s.WaitAlone, "TokenInPlace", "for members that make a token while they are alone: leave WaitAlone out")
	object(s.Hook.Hangs > 0 && s.Hook.Timeout == 0, "Hook.Hangs",
		"%v, and there is no Hook.Timeout: such an operation would never end", s.Hook.Hangs)
	p := s.Faults.Partition
	object(p.For > 0 && s.Members == 1, "Faults.Partition.For", "%v, and there is only one member to part", p.For)
	object(p.For > 0 && (p.Share == 0 || p.Share == 1), "Faults.Partition.Share", "%v: want some members, and not all", p.Share)
	object(p.For == 0 && (p.At != 0 || p.Share != 0), "Faults.Partition.For", "0: the other settings of the partition need it")
	s.each(func(name string, v reflect.Value) {
		switch value := v.Interface().(type) {
		case time.Duration:
			object(value < 0, name, "%v: must not be negative", value)
		case float64:
			most := 1.0 // Most numbers are shares.
			if name == "Network.Replay" {
				most = 100
			}
			object(!(value >= 0 && value <= most), name, "%v: want from 0 to %v", value, most)
		}
	})
	return found
}
