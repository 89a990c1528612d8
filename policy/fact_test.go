package policy_test

import (
	"strings"
	"testing"

	"github.com/wanderd/wanderd/policy"
)

func TestEachKeyHasItsOwnNameAndAUnit(t *testing.T) {
	keyOf := make(map[string]policy.Key)
	for _, k := range policy.Keys() {
		info := k.Info()
		if other, taken := keyOf[info.Name]; taken {
			t.Errorf("keys %d and %d are both called %q", other, k, info.Name)
		}
		keyOf[info.Name] = k
		if strings.Trim(info.Name, "abcdefghijklmnopqrstuvwxyz_") != "" || info.Name == "" {
			t.Errorf("key %d is called %q", k, info.Name)
		}
		if info.Unit < policy.Words || info.Unit > policy.Identity || info.Doc == "" {
			t.Errorf("%s: unit %d, doc %q", k, info.Unit, info.Doc)
		}
	}
	if got := policy.Key(200).String(); got != "Key(200)" {
		t.Errorf("a key that nobody knows is called %q", got)
	}
}

func TestFindReturnsTheFirstFactWithAKey(t *testing.T) {
	facts := []policy.Fact{
		{Key: policy.KeySkip}, {Key: policy.KeyWindow, Text: "a"}, {Key: policy.KeyWindow, Text: "b"},
	}
	if f := policy.Find(facts, policy.KeyWindow); f == nil || f.Text != "a" {
		t.Errorf("found %+v", f)
	}
	if f := policy.Find(facts, policy.KeyLap); f != nil {
		t.Errorf("found %+v, and there is none", f)
	}
}
