package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/wanderd/wanderd/smallfile"
)

// maxSize bounds a file; a large one is a mistake.
const maxSize = 1 << 20

// File is a TOML file that has been read.
type File struct {
	// Content has the types that package toml decodes into an any.
	Content map[string]any

	path  string
	lines lines
}

// ReadFile reads a file of at most a MiB. Its errors call the file what, as in "the configuration file", and name the
// flag that named it. Errors about the content begin with path and line.
func ReadFile(path, what, flag string) (*File, error) {
	text, err := load(path, what, flag)
	if err != nil {
		return nil, err
	}
	if line := nestsAt(text); line > 0 {
		return nil, fmt.Errorf("%s:%d: this nests deeper than any setting: is it the right file?", path, line)
	}
	f := &File{path: path}
	if _, err := toml.Decode(text, &f.Content); err != nil {
		if syntax, ok := errors.AsType[toml.ParseError](err); ok {
			return nil, fmt.Errorf("%s:%d: %s", path, syntax.Position.Line, syntax.Message)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.lines = findLines(text)
	return f, nil
}

func load(path, what, flag string) (string, error) {
	text, err := smallfile.Read(path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s %s does not exist: check --%s", what, path, flag)
	case errors.Is(err, smallfile.ErrTooLong):
		return "", fmt.Errorf("%s %s has more than %d bytes: is it the right one?", what, path, maxSize)
	case errors.Is(err, smallfile.ErrWrongKind):
		return "", fmt.Errorf("%s: %w: name another file with --%s", what, err, flag)
	case err != nil:
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return string(text), nil
}

// Origin returns the place of a key. The key is a path with dots, in which elements of arrays of tables have their
// index: "op" and "gate.0.name".
func (f *File) Origin(key string) Origin {
	return Origin{Layer: InFile, Name: f.path, Line: f.lines.of(key)}
}

// Read returns the values that one table of a file gives to r's table. prefix is the key of the file's table with a dot
// after it, or empty at the top. unknown returns what is wrong with a key that is not in r's table.
func (r *Reading) Read(f *File, prefix string, content map[string]any, unknown func(key string) string) Given {
	layer := Given{}
	for _, key := range slices.SortedFunc(maps.Keys(content), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.lines.of(prefix+a), f.lines.of(prefix+b)), cmp.Compare(a, b))
	}) {
		origin := f.Origin(prefix + key)
		s := r.Find(key)
		if s == nil || s.NotInFile {
			r.Complain("%s: %s", origin, unknown(key))
			continue
		}
		g, err := s.Value.form.accept(content[key])
		if err != nil {
			r.Complain("%s: %s %s", origin, key, err)
		}
		g.origin, g.broken = origin, err != nil
		layer[key] = g
	}
	return layer
}
