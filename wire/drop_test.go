package wire

import (
	"regexp"
	"testing"
)

func TestEveryDropHasAUniqueLabel(t *testing.T) {
	label := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	seen := map[string]Drop{}
	for _, drop := range Drops() {
		name := drop.String()
		if !label.MatchString(name) {
			t.Errorf("reason %d has the label %q", uint8(drop), name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("reasons %d and %d are both called %q", uint8(drop), uint8(other), name)
		}
		seen[name] = drop
	}
	if first, last := Drops()[0], Drops()[len(Drops())-1]; first != DropSize || last != DropDuplicate {
		t.Errorf("the list goes from %v to %v", first, last)
	}
	if _, listed := seen[Drop(0).String()]; listed {
		t.Error("what is not dropped has the label of a reason")
	}
}
