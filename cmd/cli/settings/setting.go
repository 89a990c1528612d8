package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Setting is one thing that a person can set.
type Setting struct {
	// Key is its name in a file; the names of flag and variable derive from it.
	Key string
	// Group is the heading under which help shows the flag.
	Group string
	// Value is the kind of value that it takes, and the variable that it fills.
	Value Value
	// Letter is a short name of the flag; most have none.
	Letter string
	// Placeholder stands for the value in help, in place of the value's usual one.
	Placeholder string
	// Default is the default as text. If it depends on other things, Rule is how it is made.
	Default, Rule string
	// Help describes in a sentence or two what the setting does.
	Help string
	// Needs is the key of the setting without which this one has no effect.
	Needs string
	// NotInFile keeps the setting out of files, because it names the file.
	NotInFile bool

	// Origin is where the value came from.
	Origin Origin
	// Broken is true if the value was not understood. The message about that is enough.
	Broken bool
	// Scope begins messages about a value that does not hold everywhere.
	Scope string
}

// Row returns a setting, whose default is otherwise, unless that is empty.
func Row(key string, v Value, otherwise, help string) *Setting {
	return &Setting{Key: key, Value: v, Default: otherwise, Help: help}
}

// Ruled returns a setting whose default is made by a rule.
func Ruled(key string, v Value, rule, help string) *Setting {
	return &Setting{Key: key, Value: v, Rule: rule, Help: help}
}

// As returns s with a placeholder.
func (s *Setting) As(placeholder string) *Setting {
	s.Placeholder = placeholder
	return s
}

// Short returns s with a letter for its flag.
func (s *Setting) Short(letter string) *Setting {
	s.Letter = letter
	return s
}

// Needing returns s, which has no effect without another setting.
func (s *Setting) Needing(key string) *Setting {
	s.Needs = key
	return s
}

// Flag returns the name of the flag, without dashes.
func (s *Setting) Flag() string { return strings.ReplaceAll(s.Key, "_", "-") }

// defaultText describes the value that holds if the setting is not set; "" if there is none.
func (s *Setting) defaultText() string { return cmp.Or(s.Rule, s.Default) }

// without describes the effect of leaving the setting out.
func (s *Setting) without() string {
	if s.defaultText() == "" {
		return "none"
	}
	return "the default, " + s.defaultText()
}

// Usage describes what the setting does, and its default.
func (s *Setting) Usage() string {
	if s.defaultText() == "" || s.Value.form == asBool {
		return s.Help
	}
	return s.Help + " The default is " + s.defaultText() + "."
}

// IsSet reports whether there is a value, including a default.
func (s *Setting) IsSet() bool { return s.Origin.Layer != Nowhere && !s.Broken }

// IsFree reports whether no layer has set it, and there is no default.
func (s *Setting) IsFree() bool { return s.Origin.Layer == Nowhere && !s.Broken }

// IsGiven reports whether a person has set it, or has tried to.
func (s *Setting) IsGiven() bool { return s.Origin.Layer > Default }

// From describes the origin of the value, or the effect of having none.
func (s *Setting) From() string {
	if s.IsFree() && s.Rule != "" {
		return Origin{Layer: Default, Name: s.Rule}.String()
	}
	return s.Origin.String()
}

// About begins a message: it has the origin, and the key if the origin does not name it.
func (s *Setting) About() string {
	if s.Origin.Layer == InFlag || s.Origin.Layer == InEnvironment {
		return s.Origin.String()
	}
	return fmt.Sprintf("%s: %s", s.Origin, s.Key)
}

// Quote writes the setting with its value and origin.
func (s *Setting) Quote() string { return fmt.Sprintf("%s %v (%s)", s.Key, s.Value.Plain(), s.From()) }

// Table lists what can be set, in the order in which help shows it.
type Table []*Setting

// Find returns the setting of a key, or nil.
func (t Table) Find(key string) *Setting {
	if i := slices.IndexFunc(t, func(s *Setting) bool { return s.Key == key }); i >= 0 {
		return t[i]
	}
	return nil
}

// Of returns the setting that fills the variable to which at points. There has to be one.
func (t Table) Of(at any) *Setting {
	return t[slices.IndexFunc(t, func(s *Setting) bool { return s.Value.at == at })]
}

// Under puts all settings under one heading.
func (t Table) Under(group string) Table {
	for _, s := range t {
		s.Group = group
	}
	return t
}

// Only returns the settings of some keys, without a heading.
func (t Table) Only(keys ...string) Table {
	return slices.DeleteFunc(slices.Clone(t), func(s *Setting) bool { return !slices.Contains(keys, s.Key) }).Under("")
}

// Keys returns the names that are allowed in a file.
func (t Table) Keys() []string {
	var keys []string
	for _, s := range t {
		if !s.NotInFile {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// MarshalJSON writes an object with every value, in the order of the table. Null means never; a setting that needs
// another one is null if that is null.
func (t Table) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, s := range t {
		b.WriteByte("{,"[min(i, 1)])
		v := s.Value.Plain()
		if s.Needs != "" && t.Find(s.Needs).Value.Plain() == nil {
			v = nil
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", s.Key, text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
