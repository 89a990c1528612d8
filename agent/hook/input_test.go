package hook

import (
	"strconv"
	"strings"
	"testing"
)

// A program may be given its input, which ends.
func TestTheInputOfAProgramIsGiven(t *testing.T) {
	for _, input := range []string{"one\n", strings.Repeat("x", MaxInput-1) + "\n"} {
		spec := shell("read line; echo ${#line}; cat; ls -l /proc/self/fd | grep -c pipe:")
		spec.Input, spec.For = []byte(input), "on_event"
		run, log := start(t, spec)
		if r := await(t, run); r.Err != nil {
			t.Fatal(r.Err)
		}
		// The pipes of ls are its standard streams: of the guard's end nothing is left.
		if want := strconv.Itoa(len(input) - 1); !log.has(t, want) || !log.has(t, "3") || len(log.entries(t)) != 2 {
			t.Errorf("%d bytes: %+v", len(input), log.entries(t))
		}
	}
}
