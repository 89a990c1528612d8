package settings

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reading is a table while its layers are read, from the lowest to the highest, together with what is wrong with them.
type Reading struct {
	Table
	invalid *Invalid
}

// Given has the values of one layer, by key.
type Given map[string]given

// given is one value of a layer.
type given struct {
	// text is the value; for a list, list has its elements.
	text   string
	list   []string
	isList bool
	origin Origin
	// broken is true if the layer itself could not understand the value, and has reported that.
	broken bool
}

// Text returns the layer's text for a key, or "".
func (g Given) Text(key string) string { return g[key].text }

// NewReading puts the defaults into a table.
func NewReading(t Table, about string) Reading {
	r := Reading{Table: t, invalid: &Invalid{About: about}}
	for _, s := range t {
		if s.Default != "" {
			r.set(s, given{text: s.Default, origin: Origin{Layer: Default}})
		}
	}
	return r
}

// With returns a reading of another table of the same thing, in which nothing is set.
func (r *Reading) With(t Table) Reading { return Reading{Table: t, invalid: r.invalid} }

// Err returns an [Invalid] if something is wrong.
func (r *Reading) Err() error {
	if len(r.invalid.Problems) == 0 {
		return nil
	}
	return r.invalid
}

// Complain adds a problem, unless it is already there.
func (r *Reading) Complain(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.invalid.Problems, text) {
		r.invalid.Problems = append(r.invalid.Problems, text)
	}
}

// Apply puts a layer on top of the former ones. It reports a wrong value even if a higher layer replaces it.
func (r *Reading) Apply(layer Given) {
	for _, s := range r.Table {
		if g, ok := layer[s.Key]; ok {
			r.set(s, g)
		}
	}
}

func (r *Reading) set(s *Setting, g given) {
	s.Origin, s.Broken = g.origin, g.broken
	if g.broken {
		return
	}
	if !g.isList && strings.TrimSpace(g.text) == "" {
		r.Reject(s, "the value is empty: give one, or leave the setting out")
	} else if err := s.Value.set(g); err != nil {
		r.Reject(s, "%s", err)
	} else if s.Value.positive && s.Value.Plain() == FormatDuration(0) {
		r.Reject(s, "%q must be greater than 0: leave it out for %s", g.text, s.without())
	}
}

// Reject reports what is wrong with a value.
func (r *Reading) Reject(s *Setting, format string, args ...any) {
	r.Complain("%s: %s", s.About(), fmt.Sprintf(format, args...))
	s.Broken = true
}

// ByRule records that a rule made the default of the variable to which at points.
func (r *Reading) ByRule(at any, rule string) { r.Of(at).Origin = Origin{Layer: Default, Name: rule} }

// Object complains about settings, whose keys, values and origins replace the %s. It ignores settings whose values were
// not understood in the first place.
func (r *Reading) Object(format string, settings ...*Setting) {
	scope, quoted := "", make([]any, len(settings))
	for i, s := range settings {
		if s.Broken {
			return
		}
		quoted[i] = s.Quote()
		if s.Scope != "" {
			scope = s.Scope + ": "
		}
	}
	r.Complain("%s%s", scope, fmt.Sprintf(format, quoted...))
}

// AtLeast requires that one duration is not below another, if both are set.
func (r *Reading) AtLeast(high, low *time.Duration, because string) {
	if h, l := r.Of(high), r.Of(low); h.IsSet() && l.IsSet() && *high < *low {
		r.Object(fmt.Sprintf("%%s is below %%s, so %s: raise %s or lower %s", because, h.Key, l.Key), h, l)
	}
}

// CheckNeeds complains about settings that have no effect.
func (r *Reading) CheckNeeds() {
	for _, s := range r.Table {
		if s.Needs != "" && s.IsGiven() && !r.Find(s.Needs).IsGiven() {
			r.Object("%s has no effect without "+s.Needs+": give that too, or leave this out", s)
		}
	}
}
