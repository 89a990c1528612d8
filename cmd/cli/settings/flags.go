package settings

import (
	"cmp"
	"slices"

	"github.com/spf13/pflag"
)

// Flags is the layer of the command line. It fills while the command line is parsed, and is checked later, together
// with all other layers.
type Flags Given

// AddTo defines the flags of a table, which keep its order.
func (f Flags) AddTo(set *pflag.FlagSet, t Table) {
	set.SortFlags = false
	for _, s := range t {
		flag := set.VarPF(&FlagValue{f, s}, s.Flag(), s.Letter, s.Usage())
		if s.Value.form == asBool {
			flag.NoOptDefVal = "true"
		}
	}
}

// Given reports whether any setting was set, apart from those of these keys.
func (f Flags) Given(besides ...string) bool {
	for key := range f {
		if !slices.Contains(besides, key) {
			return true
		}
	}
	return false
}

// Read fills the variables of a table that has no other layers. The error is an [Invalid].
func (f Flags) Read(t Table, about string) error {
	r := NewReading(t, about)
	r.Apply(Given(f))
	return r.Err()
}

// FlagValue is the variable behind one flag, as package pflag wants it.
type FlagValue struct {
	flags   Flags
	Setting *Setting
}

// Set takes one use of the flag. The uses of a list add up; for all other settings the last use counts.
func (v *FlagValue) Set(text string) error {
	if before, ok := v.flags[v.Setting.Key]; ok && v.Setting.Value.separator != "" {
		text = before.text + v.Setting.Value.separator + text
	}
	v.flags[v.Setting.Key] = given{text: text, origin: Origin{Layer: InFlag, Name: "--" + v.Setting.Flag()}}
	return nil
}

func (v *FlagValue) String() string {
	if v.Setting == nil { // pflag asks a zero value for its default
		return ""
	}
	return v.flags[v.Setting.Key].text
}

// Type returns the placeholder of the value in help.
func (v *FlagValue) Type() string {
	return cmp.Or(v.Setting.Placeholder, v.Setting.Value.placeholder)
}
