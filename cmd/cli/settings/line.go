package settings

import (
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// lines has the line of every key of a TOML document, because package toml has none for what it has decoded. Keys are
// paths with dots, in which elements of arrays of tables have their index: "op", "gate.0.name". A table has the line of
// its header.
type lines map[string]int

// of returns the line of a key, or of what encloses the key if it has no line of its own.
func (l lines) of(key string) int {
	for path := key; path != ""; path = parent(path) {
		if line, ok := l[path]; ok {
			return line
		}
	}
	return 1
}

// add notes the line of a key, and of those enclosing tables that have none yet.
func (l lines) add(path string, line int) {
	for ; path != ""; path = parent(path) {
		if _, ok := l[path]; !ok {
			l[path] = line
		}
	}
}

func parent(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }

// findLines finds the keys of a document that package toml accepts: it decodes each statement alone.
func findLines(doc string) lines {
	found, arrays, table := lines{}, map[string]int{}, ""
	for line := 1; doc != ""; {
		statement := doc[:firstStatement(doc)]
		doc = doc[len(statement):]
		var content map[string]any
		meta, _ := toml.Decode(statement, &content) // a statement that it does not accept has no keys
		isHeader := strings.HasPrefix(strings.TrimSpace(statement), "[")
		if isHeader {
			table = ""
		}
		for _, key := range meta.Keys() {
			path := table + strings.Join(key, ".")
			found.add(path, line)
			if isHeader && meta.Type(key...) == "ArrayHash" {
				index := arrays[path]
				arrays[path]++
				path += "." + strconv.Itoa(index)
				found.add(path, line)
			}
			if isHeader {
				table = path + "."
			}
		}
		line += strings.Count(statement, "\n")
	}
	return found
}

// firstStatement returns the length of a document's first statement: to the end of a line outside of strings and
// brackets.
func firstStatement(doc string) int {
	depth, length := 0, len(doc)
	outsideStrings(doc, func(at int, c byte) bool {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth <= 0 {
				length = at + 1
				return false
			}
		}
		return true
	})
	return length
}

// maxNesting bounds how deep brackets may nest, and how many dots a key may have: package toml takes minutes for
// thousands of them.
const maxNesting = 16

// nestsAt returns the line in which a document nests too deep; zero if it does not.
func nestsAt(doc string) (line int) {
	depth, dots := 0, 0
	outsideStrings(doc, func(at int, c byte) bool {
		switch c {
		case '[', '{':
			depth++
			dots = 0
		case ']', '}':
			depth--
			dots = 0
		case '.':
			dots++
		case '\n', ',', '=':
			dots = 0
		}
		if max(depth, dots) > maxNesting {
			line = 1 + strings.Count(doc[:at], "\n")
		}
		return line == 0
	})
	return line
}

// outsideStrings calls see for each byte of a document outside of strings and comments, until see returns false.
func outsideStrings(doc string, see func(at int, c byte) bool) {
	quote := ""
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		switch {
		case c == '\\' && strings.HasPrefix(quote, "\""):
			i++
		case quote != "":
			if strings.HasPrefix(doc[i:], quote) {
				i += len(quote) - 1
				// A multi-line string may contain up to two quotes just before its closing ones.
				for len(quote) == 3 && strings.HasPrefix(doc[i+1:], quote[:1]) {
					i++
				}
				quote = ""
			}
		case c == '"', c == '\'':
			quote = doc[i : i+1]
			if triple := strings.Repeat(quote, 3); strings.HasPrefix(doc[i:], triple) {
				quote = triple
				i += 2
			}
		case c == '#':
			for i+1 < len(doc) && doc[i+1] != '\n' {
				i++
			}
		case !see(i, c):
			return
		}
	}
}
