package wire

import (
	"testing"
	"time"
)

func TestTheNewerOfTwoDirectivesIsTheSameForAll(t *testing.T) {
	low, high := MemberID{1}, MemberID{2}
	ascending := []Directive{
		{},
		{Stamp: 1, By: low},
		{Stamp: 1, By: low, Until: 5},
		{Stamp: 1, By: high},
		{Stamp: 2, By: low},
		{Stamp: 3, By: low, Until: ForEver},
	}
	for i, o := range ascending {
		for j, p := range ascending {
			if got := o.Compare(p); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%+v compares with %+v as %d", o, p, got)
			}
		}
	}
}

func TestAPauseEndsByTheClockThatAsks(t *testing.T) {
	at := time.Unix(1_800_000_000, 0).UnixNano()
	for _, tc := range []struct {
		until int64
		want  bool
	}{{0, false}, {at - 1, false}, {at, false}, {at + 1, true}, {ForEver, true}} {
		if got := (Directive{Stamp: 1, Until: tc.until}).Pauses(at); got != tc.want {
			t.Errorf("a pause until %d pauses at %d: %v", tc.until, at, got)
		}
	}
	if (Directive{Stamp: 1}).Pauses(-1) {
		t.Error("a gate that is not paused is, before 1970")
	}
}

func TestAStampIsBelievedUpToADayAhead(t *testing.T) {
	if got, want := LatestStamp(time.Unix(1_800_000_000, 0).UnixNano()), uint64(1_800_086_400_000); got != want {
		t.Errorf("%d, want %d", got, want)
	}
	if got := LatestStamp(-1 << 62); got != 0 {
		t.Errorf("in 1823 it is %d", got)
	}
}

func TestADirectiveCutAnywhereDoesNotParse(t *testing.T) {
	o := token().Directive
	b := o.Append(nil)
	for n := range b {
		if _, ok := ParseDirective(b[:n]); ok {
			t.Errorf("the first %d bytes parse", n)
		}
	}
	if got, ok := ParseDirective(append(b, "more"...)); !ok || got != o {
		t.Errorf("parsed %v, %+v", ok, got)
	}
}
