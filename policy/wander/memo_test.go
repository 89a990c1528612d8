package wander_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

func TestTheFormOfAMemoStays(t *testing.T) {
	memo := soft.Memo{
		Token: wire.TokenID{Birth: 1, Generator: wire.MemberID{0: 2, 15: 3}, Random: 4}, Slot: 5, Members: 6,
	}
	saved := memo.Bytes()
	want := "0000000000000001" + "02000000000000000000000000000003" + "0000000000000004" + "05" +
		strings.Repeat("00", 9) + "00000006" + "0000"
	if got := hex.EncodeToString(saved[:]); got != want {
		t.Errorf("it is saved as %s, want %s", got, want)
	}
	if got := soft.MemoOf(&saved); got != memo {
		t.Errorf("it is read as %+v, want %+v", got, memo)
	}
}

func TestAMemoOfATokenFromTheFutureForgetsTheTokenAndNotTheSlot(t *testing.T) {
	wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	day := (24 * time.Hour).Nanoseconds()
	for birth, kept := range map[int64]bool{wall: true, wall + day: true, wall + day + 1: false} {
		memo := soft.Memo{Token: wire.TokenID{Birth: birth, Random: 1}, Slot: 3}
		s := policy.State{HasRun: true, Seq: 7, Memo: memo.Bytes()}
		why := wander.Descriptor().Doubt(wall, true, &s)
		if got := soft.MemoOf(&s.Memo); (got == memo) != kept || (why == "") != kept || got.Slot != 3 || s.Seq != 7 ||
			!s.HasRun {
			t.Errorf("%v after now: %+v, %q", time.Duration(birth-wall), got, why)
		}
	}
}
