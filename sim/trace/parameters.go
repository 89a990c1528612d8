package trace

import (
	"fmt"
	"reflect"
	"strings"
)

// Parameters returns one line for each parameter of a scenario that is not zero. The scenario is a struct; each field
// that is not a struct, in it and in the structs within it, is a parameter.
func Parameters(scenario any) string {
	var b strings.Builder
	EachParameter(scenario, func(name string, value reflect.Value) {
		if !value.IsZero() {
			fmt.Fprintf(&b, "  %-28s %v\n", name, value.Interface())
		}
	})
	return b.String()
}

// EachParameter calls do with every parameter and its name, in order.
func EachParameter(scenario any, do func(name string, value reflect.Value)) {
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			name, f := prefix+v.Type().Field(i).Name, v.Field(i)
			if f.Kind() == reflect.Struct {
				walk(name+".", f)
			} else {
				do(name, f)
			}
		}
	}
	walk("", reflect.ValueOf(scenario))
}
