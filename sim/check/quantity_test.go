package check_test

import (
	"strings"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/wire"
)

// Each word is what a member does, or what goes wrong: run0a is a run of member a in slot 0.
func TestEachFaultAllowsOneMoreTokenAndOneMoreRun(t *testing.T) {
	for said, broken := range map[string]bool{
		"made0":                                           false,
		"made0 made1":                                     false,
		"made0 made1 made0":                               true,
		"made0 made1 revived1":                            true,
		"made0 made1 crash revived1":                      false,
		"made0 made1 lost revived1 made0":                 false,
		"made0 made1 lost revived0 revived1 made0":        true,
		"made0 made1 lost revived0 revived1 revived1":     false, // With the same tie.
		"made0 made1 lost made1 made0 made":               true,
		"made0 made1 lost cut healed made0":               false,
		"made0 received0 received0":                       false,
		"run0a run1b":                                     false,
		"run0a run0b":                                     true,
		"run0a end0a run0b":                               false,
		"run0a pause run0b":                               false,
		"run0a pause run0b run0c":                         false,
		"made0 made1 pause made0 made1 made0 made1":       false,
		"made0 made1 pause made0 made1 made0 made1 made0": true,
		"came":             false,
		"run0a came run0b": false,
	} {
		k, last := check.NewQuantityChecker(2, 0), error(nil)
		for word := range strings.FieldsSeq(said) {
			o := &sim.Occurrence{Kind: sim.Stepped, At: 1, Event: &policy.Event{Kind: policy.Woke}}
			name := strings.TrimRight(word, "01abc")
			slot := strings.IndexByte("01", (strings.TrimPrefix(word, name) + "0")[0])
			token := wire.Ref{Slot: uint8(max(slot, 0))}
			if who := word[len(word)-1]; who >= 'a' && who <= 'c' {
				o.Member = int(who - 'a')
			}
			took := func(cause policy.Cause) {
				o.Effects = []policy.Effect{{Kind: policy.Took, Cause: cause, Token: token}}
			}
			switch name {
			case "made":
				took(policy.CauseMade)
			case "revived":
				took(policy.CauseRevived)
			case "received":
				took(policy.CauseReceived)
			case "run":
				o.Effects = []policy.Effect{{Kind: policy.Run, Token: token}}
			case "end":
				o.Event.Kind = policy.Finished
			default:
				o.Kind = map[string]sim.OccurrenceKind{
					"crash": sim.Crashed, "lost": sim.Lost, "cut": sim.Cut, "healed": sim.Healed, "pause": sim.Paused,
					"came": sim.Came,
				}[name]
				o.Member = 25
			}
			if err := k.Watch(nil, o); err != nil {
				last = err
			}
		}
		if (last != nil) != broken {
			t.Errorf("%s: %v", said, last)
		}
	}
}
