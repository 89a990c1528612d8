package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// reading is what has been read so far.
type reading struct {
	Parameters
	table    []Parameter
	origins  map[string]given
	problems []string
}

// given says where a parameter was set. Of one that is broken enough has been said.
type given struct {
	config.Origin
	broken bool
}

// Read reads flags, and the file at path unless that is empty. The error is a [config.Invalid] that says everything that is
// wrong.
func Read(flags *Flags, path string) (Parameters, error) {
	r := reading{table: Table(), origins: map[string]given{}}
	for _, p := range r.table {
		if p.Default != "" {
			r.set(p, p.Default, config.Origin{}, "the default of "+p.Key)
		}
	}
	clear(r.origins)
	if path != "" {
		r.readFile(path)
	}
	for _, p := range r.table {
		if text, ok := flags.given[p.Key]; ok {
			name := "--" + p.Flag()
			r.set(p, text, config.Origin{Layer: config.InFlag, Name: name}, name)
		}
	}
	if r.OpConfigured == 0 {
		r.OpConfigured = r.Op
	}
	if r.MaxInterval == 0 {
		r.MaxInterval, r.DefaultMaxInterval = r.usualMaxInterval(), true
	}
	r.check()
	if len(r.problems) > 0 {
		return r.Parameters, &config.Invalid{About: "scenario", Problems: r.problems}
	}
	return r.Parameters, nil
}

// set sets one parameter. A value that is wrong is reported also where another one replaces it.
func (r *reading) set(p Parameter, text string, origin config.Origin, about string) {
	err := p.field(&r.Parameters).set(text)
	if err != nil {
		r.complain("%s: %s", about, err)
	}
	r.origins[p.Key] = given{Origin: origin, broken: err != nil}
}

func (r *reading) complain(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.problems, text) {
		r.problems = append(r.problems, text)
	}
}

// usualMaxInterval is Δmax where nobody sets it.
func (p *Parameters) usualMaxInterval() time.Duration {
	return 3 * max(p.MinInterval, time.Duration(p.Members)*p.OpConfigured)
}

// MarshalJSON writes an object with every parameter, in the order of the table; what is not set is null. The same keys and
// values make a file.
func (p Parameters) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, entry := range Table() {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", entry.Key)
		var v any
		if !entry.never(&p) {
			v = entry.field(&p).plain()
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
