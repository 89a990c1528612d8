package tomlfile

import (
	"strconv"
	"strings"
)

// positions tells the line of every key of a TOML document: package toml has none for what it has decoded. Keys are paths
// with dots, elements of arrays of tables by their index: "op", "gate.0.name". A table has the line of its header.
type positions map[string]int

// of returns the line of a key, or of what encloses it or stands below it where the key has no line of its own.
func (p positions) of(key string) int {
	for path := key; path != ""; path = parent(path) {
		if line, ok := p[path]; ok {
			return line
		}
	}
	first := 0
	for path, line := range p {
		if strings.HasPrefix(path, key+".") && (first == 0 || line < first) {
			first = line
		}
	}
	return max(first, 1)
}

func parent(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i]
	}
	return ""
}

// findPositions walks through a document that package toml accepts. Of one that it does not accept, the result is
// meaningless.
func findPositions(doc string) positions {
	s := scanner{rest: doc, line: 1, found: make(positions), arrays: make(map[string]int)}
	for s.skipBlank(); s.rest != ""; s.skipBlank() {
		if s.rest[0] == '[' {
			s.header()
			continue
		}
		line := s.line
		s.found[s.table+s.path('=')] = line
		s.value()
	}
	return s.found
}

// scanner is a place in a document.
type scanner struct {
	rest   string
	line   int
	table  string // the path of the current table with a dot behind it; empty at the top
	arrays map[string]int
	found  positions
}

// next takes one byte.
func (s *scanner) next() byte {
	c := s.rest[0]
	s.rest = s.rest[1:]
	if c == '\n' {
		s.line++
	}
	return c
}

// skipBlank goes to the next key or header.
func (s *scanner) skipBlank() {
	for s.rest != "" {
		switch s.rest[0] {
		case ' ', '\t', '\r', '\n':
			s.next()
		case '#':
			s.skipLine()
		default:
			return
		}
	}
}

func (s *scanner) skipLine() {
	for s.rest != "" && s.rest[0] != '\n' {
		s.next()
	}
}

// header takes [table] or [[array of tables]].
func (s *scanner) header() {
	s.next()
	isArray := s.rest != "" && s.rest[0] == '['
	if isArray {
		s.next()
	}
	line := s.line
	path := s.path(']')
	if _, ok := s.found[path]; !ok {
		s.found[path] = line
	}
	if isArray {
		index := s.arrays[path]
		s.arrays[path]++
		path += "." + strconv.Itoa(index)
		s.found[path] = line
	}
	s.table = path + "."
	s.skipLine()
}

// path takes a key and the byte that ends it.
func (s *scanner) path(end byte) string {
	var key strings.Builder
	for s.rest != "" {
		switch c := s.rest[0]; c {
		case end:
			s.next()
			return key.String()
		case '"', '\'':
			key.WriteString(s.quoted())
		case ' ', '\t':
			s.next()
		default:
			key.WriteByte(s.next())
		}
	}
	return key.String()
}

// quoted takes a string of any of the four kinds and returns what is between the quotes.
func (s *scanner) quoted() string {
	quote := s.rest[:1]
	if strings.HasPrefix(s.rest, quote+quote+quote) {
		quote = s.rest[:3]
	}
	for range quote {
		s.next()
	}
	var text strings.Builder
	for s.rest != "" && !strings.HasPrefix(s.rest, quote) {
		c := s.next()
		text.WriteByte(c)
		if c == '\\' && quote[0] == '"' && s.rest != "" {
			text.WriteByte(s.next())
		}
	}
	for range quote {
		if s.rest != "" {
			s.next()
		}
	}
	// Up to two quotes may stand just inside the closing ones of a multi-line string.
	for len(quote) == 3 && s.rest != "" && s.rest[0] == quote[0] {
		text.WriteByte(s.next())
	}
	return text.String()
}

// value takes what is behind "=", up to the end of its line or of the array that it is.
func (s *scanner) value() {
	depth := 0
	for s.rest != "" {
		switch s.rest[0] {
		case '"', '\'':
			s.quoted()
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			s.skipLine()
			continue
		case '\n':
			if depth <= 0 {
				return
			}
		}
		s.next()
	}
}
