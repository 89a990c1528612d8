package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Value is the kind of value that a setting takes: its variable, and how people write the variable's content.
type Value struct {
	// Choices are the allowed values, if not all are allowed.
	Choices []string

	at   any
	form Form
	// separator stands between the elements of a list in one text; empty if the value is no list.
	separator   string
	placeholder string
	// positive is true if the value must be greater than 0.
	positive bool
	// set fills the variable, unless there is an error.
	set func(given) error
	// plain returns the value as JSON has it.
	plain func() any
}

// Plain returns the value as JSON has it, which is also how messages show it; nil means never.
func (v *Value) Plain() any { return v.plain() }

// Of makes a value for a variable, with the form that a file may use, and functions that parse and show it.
func Of[T any](at *T, form Form, placeholder string, parse func(text string) (T, error), plain func(T) any) Value {
	return of(at, form, placeholder, func(g given) (T, error) { return parse(g.text) }, plain)
}

func of[T any](at *T, form Form, placeholder string, parse func(given) (T, error), plain func(T) any) Value {
	return Value{
		at: at, form: form, placeholder: placeholder, plain: func() any { return plain(*at) },
		set: func(g given) error {
			v, err := parse(g)
			if err == nil {
				*at = v
			}
			return err
		},
	}
}

func itself[T any](v T) any { return v }

// Text is any text that is not empty.
func Text(at *string) Value {
	return Of(at, asText, "NAME", func(text string) (string, error) { return text, nil }, itself)
}

// Path names a file or directory; it is made absolute.
func Path(at *string) Value { return Of(at, asText, "PATH", filepath.Abs, itself) }

// Choice is one of two or more values, by its name.
func Choice[T any](at *T, among ...T) Value {
	var names []string
	for _, one := range among {
		names = append(names, fmt.Sprint(one))
	}
	last := len(names) - 1
	choose := "choose " + strings.Join(names[:last], ", ") + " or " + names[last]
	v := Of(at, asText, strings.Join(names, "|"), func(text string) (one T, err error) {
		if i := slices.Index(names, text); i >= 0 {
			return among[i], nil
		}
		return one, fmt.Errorf("unknown value %q: %s", text, DidYouMean(text, names, choose))
	}, func(one T) any { return fmt.Sprint(one) })
	v.Choices = names
	return v
}

// Bool is true or false.
func Bool(at *bool) Value {
	return Of(at, asBool, "", func(text string) (bool, error) {
		b, err := strconv.ParseBool(text)
		if err != nil {
			err = fmt.Errorf("%q is neither true nor false", text)
		}
		return b, err
	}, itself)
}

// Count is a whole number within a range, which does not begin below zero.
func Count[T int | uint64](at *T, least, most T) Value {
	return Of(at, asWhole, "COUNT", func(text string) (T, error) {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n < uint64(least) || n > uint64(most) {
			err = fmt.Errorf("%q is not a whole number from %d to %d", text, least, most)
		}
		return T(n), err
	}, itself)
}

// Share is a part of a whole.
func Share(at *float64) Value {
	return Of(at, AsShare, "SHARE", ParseShare, func(s float64) any { return Part(s) })
}

func plainDuration(d time.Duration) any { return FormatDuration(d) }

// Duration is a time with a unit, which may be zero.
func Duration(at *time.Duration) Value {
	return Of(at, asDuration, "DURATION", ParseDuration, plainDuration)
}

// Positive is a duration that is not zero.
func Positive(at *time.Duration) Value {
	v := Duration(at)
	v.positive = true
	return v
}

// Period is the mean time between two events; zero means never, and any other value is at least least.
func Period(at *time.Duration, least time.Duration) Value {
	return Of(at, asDuration, "DURATION", func(text string) (time.Duration, error) {
		d, err := ParseDuration(text)
		if err == nil && d > 0 && d < least {
			err = fmt.Errorf("%q is below %s: raise it", text, FormatDuration(least))
		}
		return d, err
	}, func(d time.Duration) any {
		if d == 0 {
			return nil
		}
		return plainDuration(d)
	})
}

// Moment is the time at which something happens; nil means never.
func Moment(at **time.Duration) Value {
	return Of(at, asDuration, "DURATION", func(text string) (*time.Duration, error) {
		d, err := ParseDuration(text)
		return &d, err
	}, func(d *time.Duration) any {
		if d == nil {
			return nil
		}
		return plainDuration(*d)
	})
}

// List is a list of texts: a flag that can be repeated, commas in a text, an array in a file.
func List(at *[]string) Value {
	return listOf(at, asList, ",", "NAME", func(text string) (string, error) { return text, nil }, itself)
}

// Several is a list whose elements may contain commas: a flag that can be repeated, semicolons in a text, and in a file
// one text or an array of them.
func Several[T fmt.Stringer](at *[]T, placeholder string, parse func(text string) (T, error)) Value {
	return listOf(at, asLines, ";", placeholder, parse, func(list []T) any {
		texts := make([]string, len(list))
		for i := range list {
			texts[i] = list[i].String()
		}
		return texts
	})
}

func listOf[T any](at *[]T, form Form, separator, placeholder string, parse func(string) (T, error),
	plain func([]T) any,
) Value {
	v := of(at, form, placeholder, func(g given) (list []T, err error) {
		elements := g.list
		if !g.isList {
			elements = strings.Split(g.text, separator)
		}
		for _, e := range elements {
			if e = strings.TrimSpace(e); e == "" {
				return nil, errors.New("an element is empty: remove it")
			}
			one, err := parse(e)
			if err != nil {
				return nil, err
			}
			list = append(list, one)
		}
		return list, nil
	}, plain)
	v.separator = separator
	return v
}

// Command is a program and its arguments: one text that is split, or an array in a file.
func Command(at *[]string, split func(string) ([]string, error)) Value {
	return of(at, asCommand, "COMMAND", func(g given) (list []string, err error) {
		if list = g.list; !g.isList {
			if list, err = split(g.text); err != nil {
				return nil, fmt.Errorf("%q: %w", g.text, err)
			}
		}
		if len(list) == 0 || list[0] == "" {
			return nil, errors.New("the program is missing: name it, and its arguments")
		}
		return list, nil
	}, itself)
}
