package config

// Flags is the layer of the command line. Its values fill it while the command line is parsed.
type Flags struct {
	given map[ID]raw
}

// NewFlags returns a layer in which nothing is set.
func NewFlags() *Flags { return &Flags{given: make(map[ID]raw)} }

// Value returns the variable behind one flag, as package pflag wants it.
func (f *Flags) Value(s Setting) *FlagValue { return &FlagValue{layer: f, setting: s} }

// FlagValue is the variable behind one flag. What it is set to is judged later, together with all other layers.
type FlagValue struct {
	layer   *Flags
	setting Setting
}

// Set takes one use of the flag; lists add up.
func (v *FlagValue) Set(text string) error {
	r := raw{text: text, origin: Origin{Layer: InFlag, Name: "--" + v.setting.Flag()}}
	if before, ok := v.layer.given[v.setting.ID]; ok && v.setting.Kind == List {
		r.text = before.text + "," + text
	}
	v.layer.given[v.setting.ID] = r
	return nil
}

// String returns what the flag was set to.
func (v *FlagValue) String() string {
	if v.layer == nil { // pflag asks a zero value for its default
		return ""
	}
	return v.layer.given[v.setting.ID].text
}

// Type returns the placeholder of the value in help.
func (v *FlagValue) Type() string { return v.setting.Placeholder }
