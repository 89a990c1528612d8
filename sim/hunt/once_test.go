package hunt

import (
	"cmp"
	"context"
	"flag"
	"syscall"
	"testing"
	"time"
)

// Flags of one hunt: lab/mutant compares those of known-bad protocols.
var (
	huntFor    = flag.Duration("hunt.for", 0, "hunt on one core for so much of its time")
	huntPolicy = flag.String("hunt.policy", "call", "the policy that is hunted")
	huntGuided = flag.Bool("hunt.guided", false, "guide the hunt by marks")
	huntFirst  = flag.Uint64("hunt.first", 1, "the first seed")
)

// processorTime is how long this program has had a core. What else the machine does meanwhile does not count.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestOneHunt(t *testing.T) {
	if *huntFor == 0 {
		t.Skip("hunts only with -hunt.for")
	}
	subject, err := SubjectOf(*huntPolicy, Plain)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var took time.Duration
	r := Run(ctx, Options{
		Subject: subject, From: *huntFirst, For: time.Hour, Guided: *huntGuided, Workers: 1,
		Progress: func(*Report) {
			if took = processorTime(t); took > *huntFor {
				cancel()
			}
		},
	})
	if r.Failure == nil {
		t.Logf("hunted: nothing in %d worlds, %d steps, %v", r.Seeds, r.Steps, took.Round(time.Millisecond))
	} else {
		t.Logf("hunted: found in %d worlds, %d steps, %v: %v", cmp.Or(r.Failure.World, r.Seeds), r.Steps,
			took.Round(time.Millisecond), r.Failure.Err)
		t.Log(r.Failure.Scenario)
	}
	t.Logf("pairs: %d, kept: %d, never: %q", r.Marks.Pairs(), r.Kept, r.Names.Never(r.Marks))
}
