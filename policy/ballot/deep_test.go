package ballot_test

import (
	"hash/maphash"
	"reflect"
	"slices"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// To explore a world is to copy it and to know it again. Machines are plain values but for the parts that these two follow: pointers, slices and
// interfaces. What is shared, and never changed, is not copied.

// isShared reports whether all copies of a machine have the same one.
func isShared(t reflect.Type) bool {
	return t == reflect.TypeFor[*ballot.Roster]() || t == reflect.TypeFor[*kcopies.Config]() || t == reflect.TypeFor[*explorer]() ||
		t == reflect.TypeFor[[]wire.MemberID]() || t == reflect.TypeFor[policy.Event]() // or means nothing between two steps
}

var plainTypes = map[reflect.Type]bool{}

// isPlain reports whether a type has no such part.
func isPlain(t reflect.Type) (plain bool) {
	plain, known := plainTypes[t]
	if known {
		return plain
	}
	parted := []reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Interface, reflect.Func, reflect.Map, reflect.String}
	plain = !slices.Contains(parted, t.Kind())
	if t.Kind() == reflect.Array {
		plain = isPlain(t.Elem())
	}
	if t.Kind() == reflect.Struct {
		for f := range t.Fields() {
			plain = plain && isPlain(f.Type)
		}
	}
	plainTypes[t] = plain
	return plain
}

// fields yields the fields of a struct, or the elements of an array, also those that other packages do not see.
func fields(v reflect.Value, do func(reflect.Value)) {
	if v.Kind() == reflect.Array {
		for i := range v.Len() {
			do(v.Index(i))
		}
		return
	}
	for _, f := range v.Fields() {
		do(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem())
	}
}

// copyDeep returns a copy of a pointer to a machine, or of a part of one.
func copyDeep(v reflect.Value) reflect.Value {
	if isPlain(v.Type()) || isShared(v.Type()) {
		return v
	}
	if v.Kind() == reflect.Slice {
		to := reflect.MakeSlice(v.Type(), v.Len(), v.Cap())
		reflect.Copy(to, v)
		return to
	}
	if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface || v.IsNil() {
		return v
	}
	if v.Kind() == reflect.Interface {
		return copyDeep(v.Elem())
	}
	to := reflect.New(v.Type().Elem())
	to.Elem().Set(v.Elem())
	repair(to.Elem())
	return to
}

// repair copies the parts of a value that was copied as it is.
func repair(v reflect.Value) {
	if isPlain(v.Type()) {
		return
	}
	if v.Kind() == reflect.Struct || v.Kind() == reflect.Array {
		fields(v, repair)
		return
	}
	v.Set(copyDeep(v))
}

// hashDeep adds a value to a hash.
func hashDeep(h *maphash.Hash, v reflect.Value) {
	switch {
	case isShared(v.Type()):
	case isPlain(v.Type()):
		_, _ = h.Write(unsafe.Slice((*byte)(v.Addr().UnsafePointer()), v.Type().Size()))
	case v.Kind() == reflect.Struct || v.Kind() == reflect.Array:
		fields(v, func(f reflect.Value) { hashDeep(h, f) })
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			hashDeep(h, v.Index(i))
		}
		_ = h.WriteByte(byte(v.Len()))
	case v.Kind() == reflect.String:
		_, _ = h.WriteString(v.String())
	case v.IsNil():
	case v.Kind() == reflect.Interface && v.Elem().Kind() != reflect.Pointer:
		maphash.WriteComparable(h, v.Interface())
	case v.Kind() == reflect.Interface && isShared(v.Elem().Type()):
	case v.Kind() == reflect.Interface:
		hashDeep(h, v.Elem().Elem())
	default:
		hashDeep(h, v.Elem())
	}
}
