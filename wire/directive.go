package wire

import (
	"cmp"
	"encoding/binary"
	"math"
	"time"
)

// Directive is an operator's directive that pauses a gate or resumes it. Of two directives the newer one counts. Every
// message has the newest directive that its sender knows.
type Directive struct {
	// Stamp is a Lamport clock that is not behind the wall clock of the member that gave the directive, in milliseconds
	// of Unix time. Zero: there has been no directive yet.
	Stamp uint64 `json:"stamp"`
	// By is the member that gave the directive.
	By MemberID `json:"by"`
	// Until is when the pause ends, in nanoseconds of Unix time; [ForEver] if it does not end by itself. Zero: the gate
	// is not paused.
	Until int64 `json:"until"`
}

// ForEver is the end of a pause that does not end by itself.
const ForEver int64 = math.MaxInt64

// Compare is negative if d is older than p. Of two directives with the same stamp, the directive of the member with the
// higher identity counts as newer.
func (d Directive) Compare(p Directive) int {
	return cmp.Or(cmp.Compare(d.Stamp, p.Stamp), d.By.Compare(p.By), cmp.Compare(d.Until, p.Until))
}

// Pauses reports whether the gate is paused by a clock that reads wall, in nanoseconds of Unix time.
func (d Directive) Pauses(wall int64) bool { return d.Until != 0 && wall < d.Until }

// LatestStamp is the highest stamp that is believed when a clock reads wall: clocks differ, but not by more than a day.
// After a forged stamp beyond this bound, no member could ever give a newer directive.
func LatestStamp(wall int64) uint64 {
	return uint64(max(time.Unix(0, wall).Add(24*time.Hour).UnixMilli(), 0))
}

// directiveSize is the length of a directive in bytes.
const directiveSize = 8 + len(MemberID{}) + 8

// Append appends the directive: stamp, member, end.
func (d Directive) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, d.Stamp)
	dst = append(dst, d.By[:]...)
	return binary.BigEndian.AppendUint64(dst, uint64(d.Until))
}

// ParseDirective is the inverse of Append. It ignores bytes after the directive.
func ParseDirective(b []byte) (d Directive, ok bool) {
	if len(b) < directiveSize {
		return Directive{}, false
	}
	d.Stamp = binary.BigEndian.Uint64(b)
	d.By = MemberID(b[8:])
	d.Until = int64(binary.BigEndian.Uint64(b[8+len(d.By):]))
	if !d.wellFormed() {
		return Directive{}, false
	}
	return d, true
}

// wellFormed reports whether the directive is none at all, or has a giver.
func (d *Directive) wellFormed() bool {
	return *d == Directive{} || d.Stamp > 0 && !d.By.IsZero() && d.Until >= 0
}
