package reduce

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy/window"
)

// KindKey is the key that says of which family of scenarios a file has one, as in hunted = "call".
const KindKey = "hunted"

// Text writes a scenario, a pointer to a struct, as TOML: what it is about, its kind, and all parameters that are not
// zero.
func Text(about, kind string, scenario any) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(about), "\n") {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	fmt.Fprintf(&b, "%s = %q\n", KindKey, kind)
	table := ""
	all, _ := fields(reflect.ValueOf(scenario).Elem())
	for _, f := range all {
		if f.value.IsZero() {
			continue
		}
		if f.table != table {
			table = f.table
			fmt.Fprintf(&b, "\n[%s]\n", table)
		}
		fmt.Fprintf(&b, "%s = %s\n", f.key, literal(f.value))
	}
	return b.String()
}

// literal writes a value in TOML.
func literal(v reflect.Value) string {
	switch {
	case v.Type() == duration:
		return strconv.Quote(time.Duration(v.Int()).String())
	case v.Type() == windows:
		var each []string
		for _, w := range *v.Interface().(*window.Set) {
			each = append(each, strconv.Quote(w.String()))
		}
		return "[" + strings.Join(each, ", ") + "]"
	case v.CanFloat():
		text := strconv.FormatFloat(v.Float(), 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	case v.CanUint():
		if of := names(v.Type()); v.Uint() < uint64(len(of)) {
			return strconv.Quote(of[v.Uint()])
		}
	}
	if v.CanUint() {
		return strconv.FormatUint(v.Uint(), 10)
	}
	return fmt.Sprint(v.Interface())
}
