package call

import (
	"reflect"
	"testing"

	"github.com/wanderd/wanderd/sim/reduce"
)

// What seeds draw is fit for a run, and what is written of it is read as it was.
func TestADrawnScenarioCanBeWrittenAndRead(t *testing.T) {
	for seed := range uint64(2000) {
		for _, s := range []Scenario{Draw(seed), DrawCalled(seed), DrawDue(seed), drawKept(seed)} {
			var read Scenario
			text := reduce.Text("a scenario", Kind, &s)
			content, err := reduce.Decode(text)
			if err == nil {
				err = reduce.Read(content, &read)
			}
			if err != nil || !reflect.DeepEqual(s, read) {
				t.Fatalf("seed %d: %v\n%s\n%+v\n%+v", seed, err, text, s, read)
			}
		}
	}
}
