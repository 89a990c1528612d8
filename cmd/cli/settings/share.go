package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseShare reads a share from 0 to 1, written as a percentage or as a part of one: "1%", "0.01".
func ParseShare(text string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	s, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	switch {
	case err != nil || math.IsNaN(s):
		return 0, fmt.Errorf("%q is not a share: write a percentage, as in 1%%, or a part of one, as in 0.01", text)
	case percent && (s < 0 || s > 100):
		return 0, fmt.Errorf("%q is not within 0%% and 100%%", text)
	case percent:
		return s / 100, nil
	case s < 0:
		return 0, fmt.Errorf("%q is not within 0 and 1", text)
	case s > 1:
		return 0, fmt.Errorf("%q is not within 0 and 1: write %s%% for a percentage", text, digits)
	}
	return s, nil
}

// Part is a share from 0 to 1, which people see as a percentage and JSON has as a number.
type Part float64

func (p Part) String() string {
	// digits beyond these come from multiplying
	const digits = 12
	// ParseFloat reads what FormatFloat has written
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(100*float64(p), 'g', digits, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64) + "%"
}
