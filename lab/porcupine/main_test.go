package main

import (
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

func TestOverlappingHoldsAreNoLock(t *testing.T) {
	for name, c := range map[string]struct {
		journal string
		want    porcupine.CheckResult
	}{
		"in turn": {
			"start 1 a 7 100 alone\nend 1 a 7 200\nstart 2 b 8 210 alone\nend 2 b 8 250\n", porcupine.Ok,
		},
		"killed, and then another": {
			"start 1 a 7 100 alone\nheartbeat 1 a 7 140\nstart 2 b 8 150 alone\n", porcupine.Ok,
		},
		"the last one was killed": {"start 1 a 7 100 alone\nend 1 a 7 140\nstart 2 b 8 150 alone\n", porcupine.Ok},
		"side by side": {
			"start 1 a 7 100 alone\nstart 2 b 8 150 alone\nend 1 a 7 190\nend 2 b 8 250\n", porcupine.Illegal,
		},
		"killed after another began": {
			"start 1 a 7 100 alone\nheartbeat 1 a 7 160\nstart 2 b 8 150 alone\n", porcupine.Illegal,
		},
		"one number twice": {
			"start 1 a 7 100 alone\nend 1 a 7 110\nstart 1 b 8 150 alone\n", porcupine.Illegal,
		},
		"a number that falls": {
			"start 2 a 7 100 alone\nend 2 a 7 110\nstart 1 b 8 150 alone\n", porcupine.Illegal,
		},
	} {
		history, err := read(strings.NewReader(c.journal))
		if got := porcupine.CheckOperations(lock(), history); err != nil || got != (c.want == porcupine.Ok) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
