package reduce

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/wanderd/wanderd/policy/window"
)

// Parameter is a parameter of a scenario, or one of its tables.
type Parameter struct {
	// Name is its whole key in a file.
	Name  string
	Value reflect.Value
}

// Parameters returns all parameters of a scenario, a pointer to a struct, and its tables. Whoever sets a value changes
// the scenario.
func Parameters(scenario any) (all, tables []Parameter) {
	parameters, groups := fields(reflect.ValueOf(scenario).Elem())
	for _, f := range parameters {
		all = append(all, Parameter{f.name(), f.value})
	}
	for _, f := range groups {
		tables = append(tables, Parameter{f.name(), f.value})
	}
	return all, tables
}

// field is one parameter of a scenario.
type field struct {
	// table is the key of its table in a file, without brackets; empty for a parameter of the scenario itself.
	table, key string
	value      reflect.Value
}

// name returns the whole key.
func (f *field) name() string { return strings.TrimPrefix(f.table+"."+f.key, ".") }

// fields returns all parameters of a scenario, those of a table side by side, and its tables. The parameters of the
// scenario itself come first.
func fields(scenario reflect.Value) (all, tables []field) {
	walk(scenario, "", &all, &tables)
	return all, tables
}

func walk(v reflect.Value, table string, all, tables *[]field) {
	var within []field
	for i := range v.NumField() {
		f := field{table: table, key: snake(v.Type().Field(i).Name), value: v.Field(i)}
		if f.value.Kind() == reflect.Struct {
			within = append(within, f)
		} else {
			*all = append(*all, f)
		}
	}
	for _, f := range within {
		*tables = append(*tables, f)
		walk(f.value, f.name(), all, tables)
	}
}

// snake writes "CrashEvery" as "crash_every", and "FIFO" as "fifo".
func snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		begins := i > 0 && unicode.IsUpper(r) &&
			(unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// mostNames bounds the constants of a type.
const mostNames = 16

// names returns the names of the constants of a type, by their numbers. It is empty if the type has no names, or if it
// is a set of bits.
func names(t reflect.Type) (all []string) {
	if t.Kind() != reflect.Uint8 {
		return nil
	}
	defer func() { _ = recover() }() // A type may have no name for a number behind its last one.
	for n := range uint64(mostNames) {
		v := reflect.New(t).Elem()
		v.SetUint(n)
		named, ok := reflect.TypeAssert[fmt.Stringer](v)
		if !ok {
			return nil
		}
		name := named.String()
		if strings.HasSuffix(name, fmt.Sprintf("(%d)", n)) {
			return all
		}
		all = append(all, name)
	}
	return all
}

var (
	duration = reflect.TypeFor[time.Duration]() //nolint:gochecknoglobals // a type
	windows  = reflect.TypeFor[*window.Set]()   //nolint:gochecknoglobals // a type
)
