package config

import "path/filepath"

// values holds the effective value of each setting.
type values [numSettings]Value

// Layers is a configuration that has been read: each setting with the value that is in force.
type Layers struct {
	// Warnings are sentences about what is probably not meant, and does no harm.
	Warnings []string

	top   values
	gates []gate
	bad   problems
	// incomplete says that something could not be read, so what seems to be missing may be there.
	incomplete bool
	// unread says that there is a file of which nothing is known.
	unread bool
}

// gate is one gate with its values, of which it shares some with the top.
type gate struct {
	values
	// own says which values are the gate's own; a gate that comes from --hook has none.
	own    [numSettings]bool
	origin Origin
}

// Read reads all layers: flags (nil is none), the environment as os.Environ returns it, and the file that one of the two
// names. What could not be understood is told by [Layers.Err].
func Read(flags *Flags, environ []string) *Layers {
	l := &Layers{}
	fromEnv, warnings := fromEnviron(environ)
	l.Warnings = warnings
	var fromFlags map[ID]raw
	if flags != nil {
		fromFlags = flags.given
	}
	path, named := fromFlags[File]
	if !named {
		path, named = fromEnv[File]
	}
	var file fileLayer
	if named && path.text != "" {
		var ok bool
		file, ok = readFile(path.text, &l.bad)
		l.unread, l.incomplete = !ok, file.unknown
	}
	for _, layer := range []map[ID]raw{file.given, fromEnv, fromFlags} {
		l.apply(layer)
	}
	l.setDefaults()
	for _, table := range file.gates {
		l.gates = append(l.gates, l.readGate(table))
	}
	if len(file.gates) == 0 && (l.top[Hook].Set || l.top[Hook].broken) {
		l.gates = append(l.gates, l.hookGate())
	}
	return l
}

// Err returns an [Invalid] if something could not be understood.
func (l *Layers) Err() error { return l.bad.err() }

// apply puts a layer on top of what is there. A value that is wrong is reported also where a higher layer replaces it.
func (l *Layers) apply(given map[ID]raw) {
	for _, s := range Settings() {
		if r, ok := given[s.ID]; ok {
			l.top[s.ID] = l.parse(s, r)
		}
	}
}

// parse parses one value and reports what is wrong with it.
func (l *Layers) parse(s Setting, r raw) Value {
	if r.broken {
		return Value{Origin: r.origin, broken: true}
	}
	v, err := r.parse(s)
	if err == nil && s.Kind == Path && s.scope != outside {
		v.Text, err = filepath.Abs(v.Text)
	}
	if err != nil {
		l.bad.add("%s: %s", r.origin.of(s), err)
		return Value{Origin: r.origin, broken: true}
	}
	return v
}

// Value returns the value that is in force, also if it is a default.
func (l *Layers) Value(id ID) Value { return l.top[id] }
