package scenario

import (
	"fmt"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/tomlfile"
)

// FileFlag is the flag that names a file, without dashes.
const FileFlag = "scenario"

// readFile puts the layer of a file on top of what is there.
func (r *reading) readFile(path string) {
	file, err := tomlfile.Read(path, "the scenario", FileFlag)
	if err != nil {
		r.complain("%s", err)
		return
	}
	known := map[string]Parameter{}
	keys := make([]string, 0, len(r.table))
	for _, p := range r.table {
		known[p.Key] = p
		keys = append(keys, p.Key)
	}
	for _, key := range file.Keys("", file.Content) {
		origin := config.Origin{Layer: config.InFile, Name: path, Line: file.Line(key)}
		p, ok := known[key]
		if !ok {
			r.complain("%s: unknown key %q: %s", origin, key,
				config.DidYouMean(key, keys, "the keys are the flags of \"wanderd sim --help\", with underscores"))
			continue
		}
		text, err := p.field(&r.Parameters).fromTOML(file.Content[key])
		if err != nil {
			r.complain("%s: %s %s", origin, key, err)
			r.origins[key] = given{Origin: origin, broken: true}
			continue
		}
		r.set(p, text, origin, fmt.Sprintf("%s: %s", origin, key))
	}
}
