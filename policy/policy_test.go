package policy_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// names checks that the values from first on, as many as there are, each have a name of their own, and that the next
// one has none: a value added without a name fails here.
func names[T interface {
	~uint8
	fmt.Stringer
}](t *testing.T, typeName string, unknown func(T) string, all ...T) {
	t.Helper()
	seen := map[string]T{}
	for i, v := range all {
		name := v.String()
		if name == "" || name == unknown(v) || strings.Contains(name, typeName) {
			t.Errorf("%s %d has no name: %q", typeName, v, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%s %d and %d are both called %q", typeName, v, other, name)
		}
		seen[name] = v
		if want := T(i + 1); v != want {
			t.Errorf("value %d of %s is %d: the list here has a gap", want, typeName, v)
		}
	}
	for _, v := range []T{0, T(len(all) + 1), math.MaxUint8} {
		if got, want := v.String(), unknown(v); got != want {
			t.Errorf("%s %d is called %q, want %q: is it new, and missing here?", typeName, v, got, want)
		}
	}
}

// numbered is the name of a value that has none.
func numbered[T ~uint8](typeName string) func(T) string {
	return func(v T) string { return fmt.Sprintf("%s(%d)", typeName, uint8(v)) }
}

func TestANoteThatNobodyKnowsHasItsNumberForAName(t *testing.T) {
	notes := policy.Notes{{Note: 7, Name: "seven", Text: "it is seven"}}
	if got := notes.Names([]policy.Note{7, 8}); !slices.Equal(got, []string{"seven", "note_8"}) {
		t.Errorf("7 and 8 are called %q", got)
	}
}

func TestAKindThatNobodyKnowsHasItsNumberForANameAndNoPart(t *testing.T) {
	kinds := policy.Kinds{{Kind: 7, Name: "Seven", Part: policy.Offers}}
	for kind, want := range map[wire.Kind]policy.KindInfo{7: kinds[0], 8: {Kind: 8, Name: "8"}} {
		if got := kinds.Of(kind); got != want || kinds.Part(kind) != want.Part {
			t.Errorf("%d is %+v, %v; want %+v", kind, got, kinds.Part(kind), want)
		}
	}
}

func TestEveryEventKindHasANameOfItsOwn(t *testing.T) {
	names(t, "EventKind", numbered[policy.EventKind]("EventKind"),
		policy.Started, policy.Received, policy.PeersChanged, policy.Saved, policy.Finished, policy.Soaks,
		policy.Wanted, policy.Unwanted, policy.Suspended, policy.Directed, policy.Renew, policy.Leave, policy.Woke)
}

func TestEveryEffectKindHasANameOfItsOwn(t *testing.T) {
	names(t, "EffectKind", numbered[policy.EffectKind]("EffectKind"),
		policy.Save, policy.Send, policy.Run, policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave,
		policy.Announce, policy.Proclaim, policy.Tell, policy.Gone)
}

func TestEveryCauseHasANameOfItsOwn(t *testing.T) {
	names(t, "Cause", numbered[policy.Cause]("Cause"),
		policy.CauseMade, policy.CauseReceived, policy.CauseRevived, policy.CauseKept,
		policy.CausePassed, policy.CauseRemoved, policy.CauseMet,
		policy.CauseOvertaken, policy.CauseAsleep, policy.CauseDropped, policy.CauseYielded)
}

func TestEveryOutcomeHasANameOfItsOwn(t *testing.T) {
	seen := map[string]bool{policy.Outcome(3).String(): true}
	for o := policy.Succeeded; o <= policy.NotNow; o++ {
		if name := o.String(); name == "" || seen[name] {
			t.Errorf("outcome %d is called %q", o, name)
		}
		seen[o.String()] = true
	}
}

func TestADeadlineTooFarOffIsNotInThePast(t *testing.T) {
	for _, tc := range []struct {
		t    policy.Time
		d    time.Duration
		want policy.Time
	}{
		{5, 3, 8},
		{5, -8, -3},
		{0, math.MaxInt64, math.MaxInt64},
		{1, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MinInt64, math.MaxInt64, -1},
		{math.MinInt64, -1, math.MinInt64},
		{-1, math.MinInt64, math.MinInt64},
	} {
		if got := tc.t.Add(tc.d); got != tc.want {
			t.Errorf("%d + %d = %d, want %d", tc.t, tc.d, got, tc.want)
		}
	}
}

// An effect is appended in a place where one of another kind was: nothing is left of that one.
func TestAnAppendedEffectHasNothingOfTheOneBefore(t *testing.T) {
	full := policy.Effect{
		Note: 1, Cause: 1, Demanded: true, Peer: wire.MemberID{1}, Token: wire.Ref{Seq: 1}, StartBy: 1, Until: 1,
		Msg: wire.Message{Kind: 1}, State: policy.State{Seq: 1},
	}
	if v := reflect.ValueOf(full); v.NumField() != 10 {
		t.Fatalf("an effect has %d fields: set all of them here", v.NumField())
	}
	for kind := policy.Save; kind <= policy.Gone; kind++ {
		before := full
		before.Kind = kind
		if kind != policy.Save {
			before.State = policy.State{}
		}
		if kind != policy.Send && kind != policy.PreSign && kind != policy.Proclaim {
			before.Msg = wire.Message{}
		}
		out := policy.AppendTell([]policy.Effect{before}[:0], 2, wire.MemberID{}, nil)
		if want := (policy.Effect{Kind: policy.Tell, Note: 2}); out[0] != want {
			t.Errorf("after %v: %+v", kind, out[0])
		}
	}
}

// A machine that is to be woken at once may give the earliest of all times, and one that is never woken the last one.
// A shell that waits for the difference waits neither for centuries nor in the past.
func TestTimesFarApartDifferByNoMoreThanADuration(t *testing.T) {
	hour := policy.Time(time.Hour)
	for _, tc := range []struct {
		t, u policy.Time
		want time.Duration
	}{
		{2 * hour, hour, time.Hour},
		{hour, 2 * hour, -time.Hour},
		{math.MinInt64, hour, math.MinInt64},
		{policy.Never, -hour, math.MaxInt64},
		{policy.Never, policy.Never, 0},
	} {
		if got := tc.t.Sub(tc.u); got != tc.want {
			t.Errorf("from %d to %d it is %v, and not %v", tc.u, tc.t, got, tc.want)
		}
	}
}
