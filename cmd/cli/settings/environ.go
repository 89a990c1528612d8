package settings

import (
	"slices"
	"strings"
)

// Environ returns the values that the environment gives a table, in variables that begin with a prefix. An empty
// variable counts as not set. unknown are the variables that are no settings, in order.
func (t Table) Environ(environ []string, prefix string) (layer Given, unknown []string) {
	layer = Given{}
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		word, ours := strings.CutPrefix(name, prefix)
		key := strings.ToLower(word)
		switch {
		case !ours || text == "":
		case t.Find(key) != nil && word == strings.ToUpper(key):
			layer[key] = given{text: text, origin: Origin{Layer: InEnvironment, Name: name}}
		default:
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return layer, unknown
}
