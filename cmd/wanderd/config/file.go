package config

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/cmd/wanderd/tomlfile"
)

// fileLayer is what a file says.
type fileLayer struct {
	given map[ID]raw
	gates []gateLayer
	// unknown says that it has keys that nobody knows: what seems to be missing may be one of them.
	unknown bool
}

// gateLayer is one [[gate]] table.
type gateLayer struct {
	origin Origin
	given  map[ID]raw
}

// readFile reads the layer of the file. ok is false if there is no telling what the file means.
func readFile(path string, bad *problems) (layer fileLayer, ok bool) {
	file, err := tomlfile.Read(path, "the configuration file", File.Setting().Flag())
	if err != nil {
		bad.add("%s", err)
		return layer, false
	}
	r := fileReader{File: file, bad: bad}
	layer.given = r.table("", "", file.Content)
	layer.gates = r.gates(file.Content[gateTable])
	layer.unknown = r.unknown
	return layer, true
}

// fileReader goes through a decoded file.
type fileReader struct {
	*tomlfile.File
	bad     *problems
	unknown bool
}

func (r *fileReader) origin(key string) Origin {
	return Origin{Layer: InFile, Name: r.Path, Line: r.Line(key)}
}

// table reads the settings of the table at prefix. in names the table to a person; it is empty at the top.
func (r *fileReader) table(prefix, in string, content map[string]any) map[ID]raw {
	allowed := fileKeys(in != "")
	given := make(map[ID]raw)
	for _, key := range r.Keys(prefix, content) {
		if in == "" && key == gateTable {
			continue
		}
		origin := r.origin(prefix + key)
		s, ok := allowed[key]
		if !ok {
			r.unknown = true
			r.bad.add("%s: %s", origin, unknownKey(key, in))
			continue
		}
		value, err := fromTOML(s, content[key])
		if err != nil {
			r.bad.add("%s: %s %s", origin, key, err)
		}
		value.origin, value.broken = origin, err != nil
		given[s.ID] = value
	}
	return given
}

// gates reads the [[gate]] tables, however they are written.
func (r *fileReader) gates(content any) []gateLayer {
	var tables []map[string]any
	switch c := content.(type) {
	case nil:
	case []map[string]any:
		tables = c
	case []any:
		for _, e := range c {
			if t, ok := e.(map[string]any); ok {
				tables = append(tables, t)
			} else {
				r.bad.add("%s: %s holds %s: want tables, each under a header [[gate]]", r.origin(gateTable), gateTable, tomlfile.KindOf(e))
			}
		}
	default:
		r.bad.add("%s: %s is %s: begin each gate with a header [[gate]], in two pairs of brackets",
			r.origin(gateTable), gateTable, tomlfile.KindOf(content))
	}
	var gates []gateLayer
	for i, t := range tables {
		prefix := fmt.Sprintf("%s.%d", gateTable, i)
		gates = append(gates, gateLayer{origin: r.origin(prefix), given: r.table(prefix+".", "[[gate]]", t)})
	}
	return gates
}

// fileKeys returns what may stand at the top of a file, or in a [[gate]] table.
func fileKeys(inGate bool) map[string]Setting {
	keys := make(map[string]Setting)
	list := Settings()
	if inGate {
		list = GateSettings()
	}
	for _, s := range list {
		if s.scope != outside {
			keys[s.Key] = s
		}
	}
	return keys
}

// unknownKey says what is wrong with a key: a typing error, or a place where it cannot stand.
func unknownKey(key, in string) string {
	inGate := in != ""
	if _, ok := fileKeys(!inGate)[key]; ok {
		if inGate {
			return fmt.Sprintf("%q is no setting of a gate: move it to the top of the file, before the first [[gate]]", key)
		}
		return fmt.Sprintf("%q is a setting of a gate: move it under a header [[gate]]", key)
	}
	if key == File.Setting().Key {
		return fmt.Sprintf("%q cannot be set in a file: pass --%[1]s", key)
	}
	var known []string
	for k := range fileKeys(inGate) {
		known = append(known, k)
	}
	if !inGate {
		known = append(known, gateTable)
	}
	slices.Sort(known)
	where := ""
	if inGate {
		where = " in " + in
	}
	return fmt.Sprintf("unknown key %q%s: %s", key, where, DidYouMean(key, known, "\"wanderd config show\" lists the keys"))
}
