package wire

import (
	"cmp"
	"encoding/binary"
	"math"
	"time"
)

// Order is an operator's order that pauses a gate or resumes it. Of two orders the newer one counts. Every message has
// the newest order that its sender knows.
type Order struct {
	// Stamp is a Lamport clock that is not behind the wall clock of the member that gave the order, in milliseconds of
	// Unix time. Zero: there has been no order yet.
	Stamp uint64 `json:"stamp"`
	// By is the member that gave the order.
	By MemberID `json:"by"`
	// Until is when the pause ends, in nanoseconds of Unix time; [ForEver] if it does not end by itself. Zero: the gate
	// is not paused.
	Until int64 `json:"until"`
}

// ForEver is the end of a pause that does not end by itself.
const ForEver int64 = math.MaxInt64

// Compare is negative if o is older than p. Of two orders with the same stamp, the order of the member with the higher
// identity counts as newer.
func (o Order) Compare(p Order) int {
	return cmp.Or(cmp.Compare(o.Stamp, p.Stamp), o.By.Compare(p.By), cmp.Compare(o.Until, p.Until))
}

// Pauses reports whether the gate is paused by a clock that reads wall, in nanoseconds of Unix time.
func (o Order) Pauses(wall int64) bool { return o.Until != 0 && wall < o.Until }

// LatestStamp is the highest stamp that is believed when a clock reads wall: clocks differ, but not by more than a day.
// After a forged stamp beyond this bound, no member could ever give a newer order.
func LatestStamp(wall int64) uint64 {
	return uint64(max(time.Unix(0, wall).Add(24*time.Hour).UnixMilli(), 0))
}

// orderSize is the length of an order in bytes.
const orderSize = 8 + len(MemberID{}) + 8

// Append appends the order: stamp, member, end.
func (o Order) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, o.Stamp)
	dst = append(dst, o.By[:]...)
	return binary.BigEndian.AppendUint64(dst, uint64(o.Until))
}

// ParseOrder is the inverse of Append. It ignores bytes after the order.
func ParseOrder(b []byte) (o Order, ok bool) {
	if len(b) < orderSize {
		return Order{}, false
	}
	o.Stamp = binary.BigEndian.Uint64(b)
	o.By = MemberID(b[8:])
	o.Until = int64(binary.BigEndian.Uint64(b[8+len(o.By):]))
	if !o.wellFormed() {
		return Order{}, false
	}
	return o, true
}

// wellFormed reports whether the order is none at all, or has a giver.
func (o *Order) wellFormed() bool {
	return *o == Order{} || o.Stamp > 0 && !o.By.IsZero() && o.Until >= 0
}
