package wander

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/sim"
)

func TestImpossibleParametersAreNamed(t *testing.T) {
	for _, tc := range []struct {
		parameter, why string
		spoil          func(*Scenario)
	}{
		{"Members", "-1: a fleet has", func(s *Scenario) { s.Members = -1 }},
		{"Members", "a fleet has", func(s *Scenario) { s.Members = maxMembers + 1 }},
		{"Skip", "0: must be greater", func(s *Scenario) { s.Skip = 0 }},
		{"Skip", "-1s: must not be negative", func(s *Scenario) { s.Skip = -time.Second }},
		{"Op", "0: must be greater", func(s *Scenario) { s.Op = 0 }},
		{"MinInterval", "1s, less than Op, 4s", func(s *Scenario) { s.MinInterval = time.Second }},
		{"MaxInterval", "5s, less than MinInterval, 10m0s", func(s *Scenario) { s.MaxInterval = 5 * time.Second }},
		{"Duration", "0: must be greater", func(s *Scenario) { s.Duration = 0 }},
		{"TokenInPlace", "leave StartWithin out", func(s *Scenario) { s.StartWithin = time.Second }},
		{"TokenInPlace", "leave WaitAlone out", func(s *Scenario) { s.WaitAlone = true }},
		{"Hook.Hangs", "Hook.Timeout", func(s *Scenario) { s.Hook.Hangs = 0.5 }},
		{"Hook.Spread", "1.5: want from 0 to 1", func(s *Scenario) { s.Hook.Spread = 1.5 }},
		{"Network.Loss", "-0.1: want from 0 to 1", func(s *Scenario) { s.Network.Loss = -0.1 }},
		{"Network.Loss", "NaN: want from 0 to 1", func(s *Scenario) { s.Network.Loss = math.NaN() }},
		{"Network.Replay", "101: want from 0 to 100", func(s *Scenario) { s.Network.Replay = 101 }},
		{"Faults.CrashEvery", "-1ns: must not be negative", func(s *Scenario) { s.Faults.CrashEvery = -1 }},
		{"Faults.Partition.For", "only one member", func(s *Scenario) {
			s.Members, s.Faults.Partition = 1, sim.Partition{For: time.Second, Share: 0.5}
		}},
		{"Faults.Partition.Share", "0: want some members", func(s *Scenario) { s.Faults.Partition.For = time.Second }},
		{"Faults.Partition.Share", "1: want some members", func(s *Scenario) {
			s.Faults.Partition = sim.Partition{For: time.Second, Share: 1}
		}},
		{"Faults.Partition.For", "need it", func(s *Scenario) { s.Faults.Partition.At = time.Second }},
	} {
		s := fleet(10)
		tc.spoil(&s)
		found := impossibles(&s)
		if len(found) != 1 || found[0].parameter != tc.parameter || !strings.Contains(found[0].why, tc.why) {
			t.Errorf("%s, %s: found %q", tc.parameter, tc.why, found)
		}
	}
}

func TestEveryImpossibleParameterIsNamed(t *testing.T) {
	s := fleet(0)
	s.Skip, s.Network.Duplicate = 0, 7
	var names []string
	for _, i := range impossibles(&s) {
		names = append(names, i.parameter)
	}
	if d := cmp.Diff([]string{"Members", "Skip", "Network.Duplicate"}, names); d != "" {
		t.Error(d)
	}
}

func TestDrawnScenariosArePossible(t *testing.T) {
	for seed := uint64(1); seed <= 5000; seed++ {
		s := Draw(seed)
		if found := impossibles(&s); len(found) > 0 {
			t.Fatalf("seed %d: %v", seed, found)
		}
	}
}

// maxMembers bounds the number of members of a fleet: each takes some 3 KiB.
const maxMembers = 10_000_000

// impossible is an invalid parameter of a scenario.
type impossible struct {
	// parameter is its name in [Scenario], as "Faults.Partition.Share".
	parameter string
	// why is a clause with the parameter's value and what that should be, without the name.
	why string
}

// impossibles returns the invalid parameters of a scenario, in order; nil if all are valid.
func impossibles(s *Scenario) []impossible {
	var found []impossible
	object := func(wrong bool, parameter, format string, args ...any) {
		if wrong {
			found = append(found, impossible{parameter, fmt.Sprintf(format, args...)})
		}
	}
	object(s.Members < 1 || s.Members > maxMembers, "Members", "%d: a fleet has from 1 to %d", s.Members, maxMembers)
	object(s.Skip == 0, "Skip", "0: must be greater than 0")
	object(s.Op == 0, "Op", "0: must be greater than 0")
	object(s.MinInterval < s.Op && !s.onDemand(), "MinInterval",
		"%v, less than Op, %v: an operation would be due again before it is over",
		s.MinInterval, s.Op)
	object(s.MaxInterval != 0 && s.MaxInterval < s.MinInterval, "MaxInterval",
		"%v, less than MinInterval, %v: tokens would be made for no reason; leave it out for a good one", s.MaxInterval,
		s.MinInterval)
	object(s.RetryAfter > 0 && s.onDemand(), "RetryAfter", "%v: on demand it is the callers who repeat what failed",
		s.RetryAfter)
	object(s.Ready != sim.Ready{} && s.onDemand(), "Ready", "%v: on demand nobody is asked but the callers", s.Ready)
	object(s.Ready.Timeout == 0 && s.Ready != sim.Ready{}, "Ready.Timeout", "0: the other settings of Ready need it")
	object(s.Demand.Every == 0 && s.Demand != sim.Demand{}, "Demand.Every", "0: the other settings of Demand need it")
	object(s.Demand.Withdrawn == 1, "Demand.Withdrawn", "1: must be less than 1, or no demand would be served")
	object(s.Duration == 0, "Duration", "0: must be greater than 0")
	object(s.TokenInPlace && s.StartWithin > 0, "TokenInPlace",
		"for fleets that start all at once: leave StartWithin out")
	object(s.TokenInPlace && s.WaitAlone, "TokenInPlace",
		"for members that make a token while they are alone: leave WaitAlone out")
	object(s.Hook.Hangs > 0 && s.Hook.Timeout == 0, "Hook.Hangs",
		"%v, and there is no Hook.Timeout: such an operation would never end", s.Hook.Hangs)
	p := s.Faults.Partition
	object(p.For > 0 && s.Members == 1, "Faults.Partition.For", "%v, and there is only one member to part", p.For)
	object(p.For > 0 && (p.Share == 0 || p.Share == 1), "Faults.Partition.Share", "%v: want some members, and not all",
		p.Share)
	object(p.For == 0 && (p.At != 0 || p.Share != 0), "Faults.Partition.For",
		"0: the other settings of the partition need it")
	s.each(func(name string, v reflect.Value) {
		switch value := v.Interface().(type) {
		case time.Duration:
			object(value < 0, name, "%v: must not be negative", value)
		case float64:
			most := 1.0 // Most numbers are shares.
			switch name {
			case "Network.Replay", "Differ", "Hook.Unequal":
				most = 100
			}
			object(!(value >= 0 && value <= most), name, "%v: want from 0 to %v", value, most)
		}
	})
	return found
}
