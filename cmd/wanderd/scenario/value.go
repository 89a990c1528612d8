package scenario

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/tomlfile"
)

// value is a field of [Parameters], as a person writes it.
type value interface {
	set(text string) error
	// String returns what set can read.
	String() string
	// plain returns the value as JSON has it.
	plain() any
	// fromTOML returns the text of a decoded value, if it has a type that this one can be written in.
	fromTOML(decoded any) (text string, err error)
}

// choice is one of a few words.
type choice struct {
	at    *string
	among []string
}

func (v choice) set(text string) error {
	if !slices.Contains(v.among, text) {
		there := "choose " + strings.Join(v.among, ", ")
		if len(v.among) == 1 {
			there = v.among[0] + " is all there is"
		}
		return fmt.Errorf("%q is not there: %s", text, config.DidYouMean(text, v.among, there))
	}
	*v.at = text
	return nil
}

func (v choice) String() string { return *v.at }
func (v choice) plain() any     { return *v.at }

func (choice) fromTOML(decoded any) (string, error) { return textFromTOML(decoded, "text in quotes") }

// count is a whole number.
type count struct{ at *int }

func (v count) set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("%q is not a whole number that this program can count to", text)
	}
	*v.at = n
	return nil
}

func (v count) String() string { return strconv.Itoa(*v.at) }
func (v count) plain() any     { return *v.at }

func (count) fromTOML(decoded any) (string, error) { return wholeFromTOML(decoded) }

// seed is a whole number that is not below zero.
type seed struct{ at *uint64 }

func (v seed) set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d", text, uint64(math.MaxUint64))
	}
	*v.at = n
	return nil
}

func (v seed) String() string { return strconv.FormatUint(*v.at, 10) }
func (v seed) plain() any     { return *v.at }

func (seed) fromTOML(decoded any) (string, error) { return wholeFromTOML(decoded) }

// duration is a time with a unit.
type duration struct{ at *time.Duration }

func (v duration) set(text string) error {
	d, err := config.ParseDuration(text)
	*v.at = d
	return err
}

func (v duration) String() string { return config.FormatDuration(*v.at) }
func (v duration) plain() any     { return v.String() }

func (duration) fromTOML(decoded any) (string, error) {
	if n, ok := numberText(decoded); ok {
		return "", fmt.Errorf("is a number: a duration needs a unit and quotes, as in \"%ss\" or \"%[1]sm\"", n)
	}
	return textFromTOML(decoded, "a duration in quotes, as in \"10m\"")
}

// period is the time between two faults; zero is never.
type period struct{ duration }

func (v period) never() bool { return *v.at == 0 }

// moment is when something happens; nil is never.
type moment struct{ at **time.Duration }

func (v moment) set(text string) error {
	d, err := config.ParseDuration(text)
	*v.at = &d
	return err
}

func (v moment) String() string {
	if v.never() {
		return ""
	}
	return config.FormatDuration(**v.at)
}

func (v moment) plain() any  { return v.String() }
func (v moment) never() bool { return *v.at == nil }

func (moment) fromTOML(decoded any) (string, error) { return duration{}.fromTOML(decoded) }

// share is a part of a whole, from 0 to 1.
type share struct{ at *float64 }

func (v share) set(text string) error {
	s, err := ParseShare(text)
	*v.at = s
	return err
}

func (v share) String() string { return FormatShare(*v.at) }
func (v share) plain() any     { return *v.at }

func (share) fromTOML(decoded any) (string, error) { return shareFromTOML(decoded) }

// spread is a share of something that takes time, or a time.
type spread struct{ at *Spread }

func (v spread) set(text string) error {
	if d, err := config.ParseDuration(text); err == nil {
		*v.at = Spread{Time: d}
		return nil
	}
	s, err := ParseShare(text)
	if err != nil {
		return fmt.Errorf("%w; or a duration, as in 1s", err)
	}
	*v.at = Spread{Share: s}
	return nil
}

func (v spread) String() string {
	if v.at.Time > 0 {
		return config.FormatDuration(v.at.Time)
	}
	return FormatShare(v.at.Share)
}

func (v spread) plain() any {
	if v.at.Time > 0 {
		return v.String()
	}
	return v.at.Share
}

func (spread) fromTOML(decoded any) (string, error) { return shareFromTOML(decoded) }

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

// FormatShare writes a share as a percentage.
func FormatShare(s float64) string {
	const digits = 12 // what is beyond them comes from multiplying
	text := strconv.FormatFloat(100*s, 'g', digits, 64)
	if rounded, err := strconv.ParseFloat(text, 64); err == nil {
		text = strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return text + "%"
}

func textFromTOML(decoded any, want string) (string, error) {
	text, ok := decoded.(string)
	if !ok {
		return "", fmt.Errorf("is %s: want %s", tomlfile.KindOf(decoded), want)
	}
	return text, nil
}

func wholeFromTOML(decoded any) (string, error) {
	n, ok := decoded.(int64)
	if !ok {
		return "", errors.New("is " + tomlfile.KindOf(decoded) + ": want a whole number, without quotes")
	}
	return strconv.FormatInt(n, 10), nil
}

func shareFromTOML(decoded any) (string, error) {
	if n, ok := numberText(decoded); ok {
		return n, nil
	}
	return textFromTOML(decoded, "a share, as in 0.01 or \"1%\"")
}

func numberText(decoded any) (text string, ok bool) {
	switch n := decoded.(type) {
	case int64:
		return strconv.FormatInt(n, 10), true
	case float64:
		return strconv.FormatFloat(n, 'g', -1, 64), true
	}
	return "", false
}
