package reduce

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim/calendar"
)

// Bounds of every parameter in a file: a run with more than that would take for ever.
const (
	mostTime    = 1000 * time.Hour
	mostCount   = 1000
	mostShare   = 100.0
	mostWindows = 100
)

// Decode returns the content of a file that [Text] has written.
func Decode(text string) (content map[string]any, err error) {
	_, err = toml.Decode(text, &content)
	return content, err
}

// Kind returns the kind of the scenario in a file. It is empty if that is no scenario of a hunt.
func Kind(content map[string]any) string {
	kind, _ := content[KindKey].(string)
	return kind
}

// Read reads the content of a file into a scenario, a pointer to a struct, and checks it.
func Read(content map[string]any, scenario interface{ Check() error }) error {
	own := maps.Clone(content)
	delete(own, KindKey)
	if err := fill(own, "", reflect.ValueOf(scenario).Elem()); err != nil {
		return err
	}
	return scenario.Check()
}

// fill sets the fields of a struct from a table.
func fill(content map[string]any, table string, into reflect.Value) error {
	at := map[string]reflect.Value{}
	for i := range into.NumField() {
		at[snake(into.Type().Field(i).Name)] = into.Field(i)
	}
	for _, key := range slices.Sorted(maps.Keys(content)) {
		name, value := strings.TrimPrefix(table+"."+key, "."), content[key]
		v, known := at[key]
		within, isTable := value.(map[string]any)
		switch {
		case !known:
			return fmt.Errorf("%s: no such parameter: remove it, or correct its name", name)
		case isTable != (v.Kind() == reflect.Struct):
			return fmt.Errorf("%s: a table where a value is, or a value where a table is: correct it", name)
		}
		var err error
		if isTable {
			err = fill(within, name, v)
		} else if err = set(v, value); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// set sets a parameter to a value of a file.
func set(v reflect.Value, to any) error {
	text, isText := to.(string)
	whole, isWhole := to.(int64)
	switch {
	case v.Type() == duration:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 || d > mostTime {
			return fmt.Errorf("write a duration from 0s to %v, as \"1.5s\"", mostTime)
		}
		v.SetInt(int64(d))
	case v.Type() == windows:
		return setWindows(v, to)
	case v.CanFloat():
		share, isFloat := to.(float64)
		if isWhole {
			share, isFloat = float64(whole), true
		}
		if !isFloat || math.IsNaN(share) || share < 0 || share > mostShare {
			return fmt.Errorf("write a number from 0 to %v, as 0.5", mostShare)
		}
		v.SetFloat(share)
	case v.Kind() == reflect.Bool:
		is, ok := to.(bool)
		if !ok {
			return fmt.Errorf("write true or false")
		}
		v.SetBool(is)
	case v.Kind() == reflect.Uint8 && len(names(v.Type())) > 0:
		n := slices.Index(names(v.Type()), text)
		if !isText || n < 0 {
			return fmt.Errorf("write one of %q", names(v.Type()))
		}
		v.SetUint(uint64(n))
	case v.Kind() == reflect.Uint64:
		if !isWhole || whole < 0 {
			return fmt.Errorf("write a whole number from 0 on")
		}
		v.SetUint(uint64(whole))
	case v.CanInt(), v.CanUint():
		most := int64(mostCount)
		switch v.Kind() { //nolint:exhaustive // the others have more room than that
		case reflect.Uint8, reflect.Int8:
			most = math.MaxInt8
		case reflect.Uint16:
			most = math.MaxUint16
		}
		if !isWhole || whole < 0 || whole > most {
			return fmt.Errorf("write a whole number from 0 to %d", most)
		}
		if v.CanUint() {
			v.SetUint(uint64(whole))
		} else {
			v.SetInt(whole)
		}
	default:
		return fmt.Errorf("a %v cannot be written in a file: remove it", v.Type())
	}
	return nil
}

func setWindows(v reflect.Value, to any) error {
	var set window.Set
	each, _ := to.([]any)
	for _, one := range each {
		text, _ := one.(string)
		var unknown error // It says more than a window's own error, which names the zones of hosts.
		w, err := window.Parse(text, func(name string) (zone *time.Location, err error) {
			zone, unknown = calendar.Zone(name)
			return zone, unknown
		})
		if err := cmp.Or(unknown, err); err != nil {
			return err
		}
		set = append(set, w)
	}
	if len(set) == 0 || len(set) > mostWindows {
		return fmt.Errorf("write from 1 to %d windows, as [\"00:05-00:10 UTC\"]", mostWindows)
	}
	v.Set(reflect.ValueOf(&set))
	return nil
}
