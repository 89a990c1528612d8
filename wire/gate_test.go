package wire

import "testing"

func TestAGateIsTheHashOfItsName(t *testing.T) {
	for name, want := range map[string]string{
		"default": "676e9c7932d91844",
		"backup":  "97f2653e0e7d886b",
		"":        "087b4ca4b0458e5d",
	} {
		if got := GateIDOf(name).String(); got != want {
			t.Errorf("gate %q is %s, want %s", name, got, want)
		}
	}
}
