// Package tomlfile reads TOML files for people who make mistakes in them: it knows the line of every key, and calls the types
// of values by names that are not those of Go.
package tomlfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/BurntSushi/toml"
)

// maxSize bounds a file; a large one is a mistake.
const maxSize = 1 << 20

// File is a file that has been read.
type File struct {
	Path string
	// Content has the types that package toml decodes into an any.
	Content map[string]any

	lines positions
}

// Read reads a file of at most a MiB. Errors call it what, as "the configuration file", and say which flag named it; about the
// content, they begin with path and line.
func Read(path, what, flag string) (*File, error) {
	text, err := load(path, what, flag)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path}
	if _, err := toml.Decode(text, &f.Content); err != nil {
		if syntax, ok := errors.AsType[toml.ParseError](err); ok {
			return nil, fmt.Errorf("%s:%d: %s", path, syntax.Position.Line, syntax.Message)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.lines = findPositions(text)
	return f, nil
}

func load(path, what, flag string) (string, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s %s does not exist: check --%s", what, path, flag)
	case err != nil:
		return "", fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", what, err)
	case len(text) > maxSize:
		return "", fmt.Errorf("%s %s has more than %d bytes: is it the right one?", what, path, maxSize)
	}
	return string(text), nil
}

// Line returns the line of a key, counted from 1: a path with dots, elements of arrays of tables by their index, as in "op" and
// "gate.0.name". It is that of what encloses the key where the key has none of its own.
func (f *File) Line(key string) int { return f.lines.of(key) }

// Keys returns the keys of a table by line. prefix is the table's own key with a dot behind it, or empty at the top.
func (f *File) Keys(prefix string, table map[string]any) []string {
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(f.Line(prefix+a), f.Line(prefix+b)), cmp.Compare(a, b))
	})
	return keys
}

// Texts returns the elements of an array of texts, and whether value is one.
func Texts(value any) ([]string, bool) {
	elements, ok := value.([]any)
	if !ok {
		return nil, false
	}
	list := make([]string, 0, len(elements))
	for _, e := range elements {
		text, ok := e.(string)
		if !ok {
			return nil, false
		}
		list = append(list, text)
	}
	return list, true
}

// KindOf names the type of a value.
func KindOf(value any) string {
	switch v := value.(type) {
	case string:
		return "text"
	case int64, float64:
		return "a number"
	case bool:
		return "true or false"
	case map[string]any, []map[string]any:
		return "a table"
	case []any:
		if len(v) > 0 {
			if _, ok := Texts(v); !ok {
				return "an array of other things than texts"
			}
		}
		return "an array"
	}
	return "a date or time"
}
