package wander_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// These bytes were made by hand, after the drawings in packages wire, guardian and wander. They change only with the
// versions of wire and of the protocol.
func TestEveryKindOfMessageHasTheseBytes(t *testing.T) {
	const (
		gate, speaks, slot = "0000000000000001", "01 01", "01"
		from, to           = "01000000000000000000000000000000", "02000000000000000000000000000000"
		exchange           = "0000000000000003"
		nonce, noNonce     = "0000000000000004", "0000000000000000"

		token   = "0000000000000005 06000000000000000000000000000000 0000000000000007 0000000000000008"
		bare    = "0000000000000005 00000000000000000000000000000000 0000000000000007 0000000000000008"
		noToken = "0000000000000000 00000000000000000000000000000000 0000000000000000 0000000000000000"

		// stamp, by, until; failures: stamp, hosts, exits
		noOrder = "0000000000000000 00000000000000000000000000000000 0000000000000000" +
			"00000000 00000000000000000000000000000000 00000000000000000000000000000000 0000000000000000"

		noTrail = "00000000000000000000000000000000 00000000000000000000000000000000"
		named   = "0c000000000000000000000000000000 00000000000000000000000000000000" + noTrail
		trail   = "0c000000000000000000000000000000 0d000000000000000000000000000000" + noTrail
		// lap, cursor, hints, tries, op, age, last slot, mixed, soak
		rest = "0000000b 000000000000000e 0000000f 00000010 00000000 00000000 02010000 00000009 000000000000000a 02 " +
			"0011 00"
		slots = "00000000 0000000000000000 00000000 00000000 00000000 00000000 00000000 00000000 0000000000000000 02 " +
			"000000"
		none = "00000000 0000000000000000 00000000 00000000 00000000 00000000 00000000 00000000 0000000000000000 00 " +
			"000000"
	)
	hexOf := map[wire.Kind][]string{
		handoff.KindToken: {gate, speaks, "01", slot, from, to, exchange, noNonce, token, noOrder, trail, rest},
		handoff.KindAck: {
			gate, speaks, "02", slot, from, to, exchange, nonce, bare, noOrder, noTrail, noTrail, none,
		},
		handoff.KindCommit: {
			gate, speaks, "03", slot, from, to, exchange, nonce, bare, noOrder, noTrail, noTrail, none,
		},
		guardian.KindHeartbeat: {gate, speaks, "04", slot, from, to, exchange, nonce, token, noOrder, trail, rest},
		guardian.KindAsk:       {gate, speaks, "05", slot, from, to, exchange, noNonce, token, noOrder, trail, rest},
		guardian.KindHeard:     {gate, speaks, "06", slot, from, to, exchange, nonce, token, noOrder, trail, rest},
		guardian.KindKnown:     {gate, speaks, "07", slot, from, to, exchange, noNonce, token, noOrder, trail, rest},
		guardian.KindTombstone: {gate, speaks, "08", slot, from, to, exchange, noNonce, token, noOrder, trail, rest},
		wander.KindInquiry: {
			gate, speaks, "09", slot, from, to, exchange, noNonce, noToken, noOrder, noTrail, noTrail, slots,
		},
		wander.KindSeen:      {gate, speaks, "0a", slot, from, to, exchange, nonce, token, noOrder, trail, rest},
		wander.KindIntent:    {gate, speaks, "0c", slot, from, to, exchange, noNonce, token, noOrder, trail, rest},
		wander.KindConsent:   {gate, speaks, "0d", slot, from, to, exchange, noNonce, token, noOrder, trail, rest},
		wander.KindObjection: {gate, speaks, "0e", slot, from, to, exchange, noNonce, token, noOrder, trail, rest},
		wander.KindUnseen:    {gate, speaks, "0f", slot, from, to, exchange, nonce, noToken, noOrder, named, slots},
		guardian.KindKeep:    {gate, speaks, "10", slot, from, to, exchange, nonce, token, noOrder, trail, rest},
		guardian.KindKept:    {gate, speaks, "11", slot, from, to, exchange, noNonce, token, noOrder, trail, rest},
		guardian.KindYield:   {gate, speaks, "0b", slot, from, to, exchange, noNonce, token, noOrder, trail, rest},
	}
	descriptor := wander.Descriptor()
	for _, kind := range descriptor.Kinds {
		m := wholeMessage(kind.Kind)
		descriptor.Stamp(&m)
		want, err := hex.DecodeString(strings.ReplaceAll(strings.Join(hexOf[kind.Kind], ""), " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%s is\n%x, want\n%x", kind.Name, got, want)
		}
		if got, ok := wire.Parse(want); !ok || got != m || !descriptor.WellFormed(&got) {
			t.Errorf("%s is read as %+v", kind.Name, got)
		}
	}
}

// What was too long ago to be carried counts as never; all else is rounded up to a second.
func TestWhatWasTooLongAgoIsNotCarried(t *testing.T) {
	for ago, want := range map[time.Duration]time.Duration{
		0: time.Second, time.Hour: time.Hour + time.Second, math.MaxUint16 * time.Second: 0, 100 * time.Hour: 0,
	} {
		var l wire.Load
		wander.SetMixed(&l, ago)
		if got, ok := wander.MixedOf(&l); got != want || ok != (want > 0) {
			t.Errorf("%v ago is %v, %v; want %v", ago, got, ok, want)
		}
	}
}
