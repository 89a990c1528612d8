package holds

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// asked lets a run ask for its next gate, which must be the one that is wanted.
func asked(t *testing.T, r *Taking, want string) {
	t.Helper()
	if got, _ := r.Ask(); got != want || r.Asks() != want {
		t.Fatalf("it asks for %q, and says %q; want %q", got, r.Asks(), want)
	}
}

// "Then it takes the others one after another", and "its operation starts when it holds all of them".
func TestARunTakesItsGatesOneAfterAnother(t *testing.T) {
	r := NewTaking([]string{"a", "b"}, time.Minute)
	for _, gate := range r.Gates() {
		if r.Holds() {
			t.Errorf("it may start without %s", gate)
		}
		asked(t, &r, gate)
		if again, ok := r.Ask(); ok {
			t.Errorf("it asks for %q while it waits for %s", again, gate)
		}
		if !r.Granted() || r.Granted() {
			t.Errorf("%s is granted, but not once", gate)
		}
	}
	if more, ok := r.Ask(); ok || !r.Holds() {
		t.Errorf("it asks for %q; it may start: %v", more, r.Holds())
	}
	if got := r.Release(); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("it releases %q", got)
	}
	if r.Holds() || len(r.Release()) > 0 {
		t.Error("it holds something after its end")
	}
	none := NewTaking(nil, 0)
	if _, ok := none.Ask(); ok || !none.Holds() {
		t.Error("a run without other gates waits for some")
	}
}

// "If one of them does not come in time, nothing starts: all are released."
func TestARunThatCannotHaveAllDoesNotStart(t *testing.T) {
	lose := func(r *Taking) error { r.Lose("a"); return r.Stop() }
	refuse := func(r *Taking) error { return r.Refuse(errors.New("it is braked")) }
	for want, ends := range map[string]func(*Taking) error{
		`gate "b" was not granted within 1m0s`:    (*Taking).Late,
		"stopped before it held all its gates":    (*Taking).Stop,
		`gate "a" was lost meanwhile`:             lose,
		`gate "b" is not to be had: it is braked`: refuse,
	} {
		r := NewTaking([]string{"a", "b", "c"}, time.Minute)
		asked(t, &r, "a")
		r.Granted()
		asked(t, &r, "b")
		if err := ends(&r); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if r.Granted() {
			t.Error("a gate that comes later is held")
		}
		if gate, ok := r.Ask(); ok || r.Holds() {
			t.Errorf("it asks for %q; it may start: %v", gate, r.Holds())
		}
		if got := r.Release(); !slices.Equal(got, []string{"b", "a"}) {
			t.Errorf("it releases %q", got)
		}
	}
}

// "A lost grant of any of them cuts the run": also one that was lost while another one was asked for.
func TestARunThatHasLostAGateDoesNotStart(t *testing.T) {
	r := NewTaking([]string{"a", "b"}, time.Minute)
	asked(t, &r, "a")
	r.Granted()
	asked(t, &r, "b")
	r.Lose("a")
	r.Granted()
	if r.Holds() {
		t.Error("it may start")
	}
	if err := r.Stop(); !strings.Contains(err.Error(), `gate "a" was lost`) {
		t.Error(err)
	}
}
