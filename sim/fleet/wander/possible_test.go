package wander

import (
	"math"
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
		found := s.Impossible()
		if len(found) != 1 || found[0].Parameter != tc.parameter || !strings.Contains(found[0].Why, tc.why) {
			t.Errorf("%s, %s: found %q", tc.parameter, tc.why, found)
		}
	}
}

func TestEveryImpossibleParameterIsNamed(t *testing.T) {
	s := fleet(0)
	s.Skip, s.Network.Duplicate = 0, 7
	var names []string
	for _, i := range s.Impossible() {
		names = append(names, i.Parameter)
	}
	if d := cmp.Diff([]string{"Members", "Skip", "Network.Duplicate"}, names); d != "" {
		t.Error(d)
	}
}

func TestWhatTheSwarmDrawsIsPossible(t *testing.T) {
	for seed := uint64(1); seed <= 5000; seed++ {
		s := Draw(seed)
		if found := s.Impossible(); len(found) > 0 {
			t.Fatalf("seed %d: %v", seed, found)
		}
	}
}
