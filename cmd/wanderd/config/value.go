package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
)

// Value is the value of one setting. Which field holds it depends on the setting's kind.
type Value struct {
	// Set says that there is a value at all.
	Set bool
	// Text holds a Text or a Path, List a List or a Command.
	Text     string
	List     []string
	Duration time.Duration
	Number   int
	Bool     bool
	Origin   Origin

	// broken says that somebody tried, and failed. The message about that is enough.
	broken bool
}

// String returns the value as it would be written on a command line.
func (v Value) String(k Kind) string {
	switch k {
	case Text, Path:
		return v.Text
	case Time:
		return FormatDuration(v.Duration)
	case Number:
		return strconv.Itoa(v.Number)
	case Bool:
		return strconv.FormatBool(v.Bool)
	case List:
		return strings.Join(v.List, ",")
	case Command:
		return strings.Join(v.List, " ")
	}
	return ""
}

// raw is a value as a layer has it: one text, or the elements of a list.
type raw struct {
	text   string
	list   []string
	isList bool
	origin Origin
	// broken says that the layer itself could make nothing of it, and has said so.
	broken bool
}

// parse makes a value of what a layer says.
func (r raw) parse(s Setting) (Value, error) {
	v := Value{Set: true, Origin: r.origin}
	if !r.isList && strings.TrimSpace(r.text) == "" {
		return v, errors.New("the value is empty: give one, or leave the setting out")
	}
	var err error
	switch s.Kind {
	case Text, Path:
		v.Text = r.text
		if len(s.Choices) > 0 && !slices.Contains(s.Choices, v.Text) {
			err = fmt.Errorf("%q is not there: %s", v.Text,
				DidYouMean(v.Text, s.Choices, "choose "+enumerate(s.Choices)))
		}
	case Time:
		v.Duration, err = ParseDuration(r.text)
	case Number:
		if v.Number, err = strconv.Atoi(r.text); err != nil || v.Number < s.Least || v.Number > s.Most {
			err = fmt.Errorf("%q is not a whole number from %d to %d", r.text, s.Least, s.Most)
		}
	case Bool:
		if v.Bool, err = strconv.ParseBool(r.text); err != nil {
			err = fmt.Errorf("%q is neither true nor false", r.text)
		}
	case List:
		v.List, err = r.elements()
	case Command:
		if v.List = r.list; !r.isList {
			if v.List, err = hook.Split(r.text); err != nil {
				err = fmt.Errorf("%q: %w", r.text, err)
			}
		}
		if err == nil && (len(v.List) == 0 || v.List[0] == "") {
			err = errors.New("no program: name one, and its arguments")
		}
	}
	return v, err
}

// elements returns the elements of a list, which are separated by commas in a text.
func (r raw) elements() ([]string, error) {
	list := r.list
	if !r.isList {
		list = strings.Split(r.text, ",")
	}
	var trimmed []string
	for _, e := range list {
		e = strings.TrimSpace(e)
		if e == "" {
			return nil, errors.New("an element is empty: remove it")
		}
		trimmed = append(trimmed, e)
	}
	return trimmed, nil
}

// enumerate lists words as a sentence does.
func enumerate(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
