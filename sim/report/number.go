package report

import (
	"math"
	"strconv"
	"strings"
)

// Missing is written in place of a missing number.
const Missing = "–"

// significant is the number of digits of a number that is not whole.
const significant = 4

// Number formats a number: whole numbers as they are, others with four digits, without an exponent if possible. NaN is
// [Missing].
func Number(v float64) string {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return Missing
	case v == 0:
		// This also catches negative zero.
		return "0"
	case v == math.Trunc(v) && size < 1e15:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size < 1e-4 || size >= 1e15:
		return strconv.FormatFloat(v, 'g', significant, 64)
	}
	decimals := max(0, significant-1-int(math.Floor(math.Log10(size))))
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Signed formats a number with its sign, for differences.
func Signed(v float64) string {
	if v > 0 {
		return "+" + Number(v)
	}
	return Number(v)
}

// Percent formats a share, with 1 as the whole.
func Percent(share float64) string {
	if math.IsNaN(share) {
		return Missing
	}
	return Number(roundTo(100*share, 3)) + " %"
}

// roundTo rounds to a number of significant digits.
func roundTo(v float64, digits int) float64 {
	if v == 0 || math.IsInf(v, 0) {
		return v
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// grouped formats a number for an axis, with a space after every three digits of a large one.
func grouped(v float64) string {
	s := Number(roundTo(v, 12))
	digits := strings.TrimPrefix(s, "-")
	if len(digits) < 5 || strings.ContainsAny(digits, ".e") {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:len(s)-len(digits)])
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(d)
	}
	return b.String()
}
