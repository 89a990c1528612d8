package ballot_test

import (
	"hash/maphash"
	"reflect"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// To explore a world, the explorer copies its states and recognises them. Machines are plain values except for the
// parts that these two functions follow: pointers, slices and interfaces.

// isShared reports whether all copies of a machine share a part, which is never changed, or means nothing between two
// steps.
func isShared(t reflect.Type) bool {
	return t == reflect.TypeFor[*ballot.Roster]() || t == reflect.TypeFor[*kcopies.Config]() ||
		t == reflect.TypeFor[*explorer]() ||
		t == reflect.TypeFor[[]wire.MemberID]() || t == reflect.TypeFor[policy.Event]() ||
		t == reflect.TypeFor[handoff.Outcome]()
}

// isMute reports whether a part affects nothing that a machine does: it is only shown to people.
func isMute(t reflect.Type) bool {
	return t.String() == "ballot.rates"
}

// isDrawn reports whether a type has drawn numbers, of which only equality means anything.
func isDrawn(t reflect.Type) bool {
	return t == reflect.TypeFor[wire.Exchange]() || t == reflect.TypeFor[wire.Nonce]()
}

// layout is where a type has which parts.
type layout struct {
	// bytes are the ranges that are taken as they are; drawn and finished are where the drawn numbers are; parts are
	// pointers and the like.
	bytes           [][2]uintptr
	drawn, finished []uintptr
	parts           []part
}

type part struct {
	at uintptr
	is reflect.Type
}

// layouts are the layouts of the types that were met.
type layouts map[reflect.Type]*layout

func (ls layouts) of(t reflect.Type) *layout {
	l := ls[t]
	if l == nil {
		l = new(layout)
		l.add(t, 0)
		ls[t] = l
	}
	return l
}

func (l *layout) add(t reflect.Type, at uintptr) {
	switch k := t.Kind(); {
	case isMute(t) || isShared(t):
	case isDrawn(t):
		l.drawn = append(l.drawn, at)
	case k == reflect.Pointer || k == reflect.Slice || k == reflect.Interface || k == reflect.String:
		l.parts = append(l.parts, part{at, t})
	case k == reflect.Array && isDrawn(t.Elem()):
		for i := range t.Len() {
			l.finished = append(l.finished, at+uintptr(i)*t.Elem().Size())
		}
	case k == reflect.Array && t.Elem().Kind() != reflect.Uint8:
		for i := range t.Len() {
			l.add(t.Elem(), at+uintptr(i)*t.Elem().Size())
		}
	case k == reflect.Struct:
		for f := range t.Fields() {
			l.add(f.Type, at+f.Offset)
		}
	case k == reflect.Map || k == reflect.Func || k == reflect.Chan:
		panic("a machine is a plain value, but " + t.String() + " is not")
	default:
		if n := len(l.bytes); n > 0 && l.bytes[n-1][1] == at {
			l.bytes[n-1][1] += t.Size()
		} else {
			l.bytes = append(l.bytes, [2]uintptr{at, at + t.Size()})
		}
	}
}

// each yields the parts of a value, and the elements of a slice of values with parts.
func (l *layout) each(at unsafe.Pointer, do func(reflect.Value)) {
	for _, p := range l.parts {
		do(reflect.NewAt(p.is, unsafe.Add(at, p.at)).Elem())
	}
}

// copy returns a copy of what a pointer points to.
func (ls layouts) copy(pointer reflect.Value) reflect.Value {
	to := reflect.New(pointer.Type().Elem())
	to.Elem().Set(pointer.Elem())
	ls.own(to)
	return to
}

// own copies the parts of what a pointer points to.
func (ls layouts) own(pointer reflect.Value) {
	ls.of(pointer.Type().Elem()).each(pointer.UnsafePointer(), func(v reflect.Value) {
		switch {
		case v.Kind() == reflect.String || v.IsNil():
		case v.Kind() == reflect.Slice:
			to := reflect.MakeSlice(v.Type(), v.Len(), v.Cap())
			reflect.Copy(to, v)
			v.Set(to)
		case v.Kind() == reflect.Pointer:
			v.Set(ls.copy(v))
		case v.Elem().Kind() == reflect.Pointer && !isShared(v.Elem().Type()):
			v.Set(ls.copy(v.Elem()))
		}
	})
}

// form is what a machine is recognised by: everything in it except the numbers that it or others drew, and these
// numbers. Of finished numbers it records only that they do not come again.
type form struct {
	hash            uint64
	drawn, finished []uint64
}

// form returns the form of what a pointer points to.
func (ls layouts) form(pointer reflect.Value) (f form) {
	h := newHash()
	ls.add(&f, h, pointer)
	f.hash = h.Sum64()
	return f
}

func (ls layouts) add(f *form, h *hash, pointer reflect.Value) {
	l, at := ls.of(pointer.Type().Elem()), pointer.UnsafePointer()
	for _, b := range l.bytes {
		_, _ = h.Write(unsafe.Slice((*byte)(unsafe.Add(at, b[0])), b[1]-b[0]))
	}
	for _, d := range l.drawn {
		f.drawn = append(f.drawn, *(*uint64)(unsafe.Add(at, d)))
	}
	for _, d := range l.finished {
		f.finished = append(f.finished, *(*uint64)(unsafe.Add(at, d)))
	}
	l.each(at, func(v reflect.Value) {
		switch {
		case v.Kind() == reflect.String:
			_, _ = h.WriteString(v.String())
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				ls.add(f, h, v.Index(i).Addr())
			}
			_ = h.WriteByte(byte(v.Len()))
		case v.IsNil():
		case v.Kind() == reflect.Pointer:
			ls.add(f, h, v)
		case v.Elem().Kind() != reflect.Pointer:
			maphash.WriteComparable(&h.Hash, v.Interface())
		case !isShared(v.Elem().Type()):
			ls.add(f, h, v.Elem())
		}
	})
}
