package scenario

// Flags is the layer of the command line. Its values fill it while the command line is parsed.
type Flags struct{ given map[string]string }

// NewFlags returns a layer in which nothing is set.
func NewFlags() *Flags { return &Flags{given: map[string]string{}} }

// Given reports whether anything was set besides the parameters of these keys.
func (f *Flags) Given(besides ...string) bool {
	n := len(f.given)
	for _, key := range besides {
		if _, ok := f.given[key]; ok {
			n--
		}
	}
	return n > 0
}

// Value returns the variable behind one flag, as package pflag wants it.
func (f *Flags) Value(p Parameter) *FlagValue { return &FlagValue{layer: f, parameter: p} }

// FlagValue is the variable behind one flag. What it is set to is judged later, together with everything else.
type FlagValue struct {
	layer     *Flags
	parameter Parameter
}

// Set takes the flag; the last one counts.
func (v *FlagValue) Set(text string) error {
	v.layer.given[v.parameter.Key] = text
	return nil
}

// String returns what the flag was set to.
func (v *FlagValue) String() string {
	if v.layer == nil { // pflag asks a zero value for its default
		return ""
	}
	return v.layer.given[v.parameter.Key]
}

// Type returns the placeholder of the value in help.
func (v *FlagValue) Type() string { return v.parameter.Placeholder }
