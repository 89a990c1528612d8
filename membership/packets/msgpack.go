package packets

import "encoding/binary"

// fields reads one map of msgpack whose keys are text and whose values are text, bytes, whole numbers, booleans or nil:
// all that memberlist writes. A value of another kind, or one that is cut short, makes the map invalid.
type fields struct{ rest []byte }

// field is one key or value.
type field struct {
	// text is the content of text or bytes, number the value of a whole number; a negative number is read as one above
	// every bound.
	text   []byte
	number uint64
}

// readMap reads the head of a map. The keys and values of its entries follow, alternately.
func readMap(b []byte) (f fields, entries int, ok bool) {
	switch {
	case len(b) >= 1 && b[0]&0xf0 == 0x80:
		return fields{b[1:]}, int(b[0] & 0x0f), true
	case len(b) >= 3 && b[0] == 0xde:
		return fields{b[3:]}, int(binary.BigEndian.Uint16(b[1:])), true
	}
	return fields{}, 0, false
}

// value reads one value.
func (f *fields) value() (e field, ok bool) {
	if len(f.rest) == 0 {
		return e, false
	}
	kind := f.rest[0]
	f.rest = f.rest[1:]
	switch {
	case kind <= 0x7f:
		e.number = uint64(kind)
		return e, true
	case kind >= 0xe0: // a negative number of one byte
		e.number = ^uint64(0)
		return e, true
	case kind >= 0xa0 && kind <= 0xbf:
		return f.bytes(uint64(kind&0x1f), true)
	}
	switch kind {
	case 0xc0, 0xc2, 0xc3: // nil, false, true
		return e, true
	case 0xc4, 0xc5, 0xc6: // bytes, with a length of 1, 2 and 4 bytes
		return f.bytes(f.uint(1 << (kind - 0xc4)))
	case 0xd9, 0xda, 0xdb: // text
		return f.bytes(f.uint(1 << (kind - 0xd9)))
	case 0xcc, 0xcd, 0xce, 0xcf: // unsigned numbers of 1, 2, 4 and 8 bytes
		e.number, ok = f.uint(1 << (kind - 0xcc))
		return e, ok
	case 0xd0, 0xd1, 0xd2, 0xd3: // signed ones
		size := 1 << (kind - 0xd0)
		e.number, ok = f.uint(size)
		if e.number>>(8*size-1) != 0 {
			e.number = ^uint64(0)
		}
		return e, ok
	}
	return e, false
}

// bytes reads text of this length; if known is false, the length could not be read. Empty text is not nil.
func (f *fields) bytes(length uint64, known bool) (e field, ok bool) {
	if !known || length > uint64(len(f.rest)) {
		return e, false
	}
	e.text, f.rest = f.rest[:length:length], f.rest[length:]
	return e, true
}

// uint reads a number of 1, 2, 4 or 8 bytes.
func (f *fields) uint(size int) (n uint64, ok bool) {
	if size > len(f.rest) {
		return 0, false
	}
	for _, b := range f.rest[:size] {
		n = n<<8 | uint64(b)
	}
	f.rest = f.rest[size:]
	return n, true
}
