package scenario

import (
	"fmt"

	"github.com/wanderd/wanderd/cmd/cli/settings"
)

// FileFlag is the flag that names a file, without dashes.
const FileFlag = "scenario"

// Read reads flags, and the file at path unless that is empty. The error is a [settings.Invalid] that lists everything
// that is wrong.
func Read(flags settings.Flags, path string) (Parameters, error) {
	var p Parameters
	var file *settings.File
	var unread error
	if path != "" {
		file, unread = settings.ReadFile(path, "the scenario", FileFlag)
	}
	name := settings.Given(flags).Text("policy")
	if name == "" && file != nil {
		name, _ = file.Content["policy"].(string)
	}
	one := policyOf(name) // A policy that does not exist is a wrong value like any other.
	r := settings.NewReading(one.table(&p), "scenario")
	switch {
	case unread != nil:
		r.Complain("%s", unread)
	case file != nil:
		r.Apply(r.Read(file, "", file.Content, func(key string) string {
			if Table().Find(key) != nil {
				return one.lacks(key)
			}
			return fmt.Sprintf("unknown key %q: %s", key,
				settings.DidYouMean(key, r.Keys(),
					"the keys are the flags of \"wanderd sim --help\", with underscores"))
		}))
	}
	for _, s := range Table() {
		if _, given := flags[s.Key]; given && r.Find(s.Key) == nil {
			r.Complain("--%s: %s", s.Flag(), one.lacks(s.Key))
		}
	}
	r.Apply(settings.Given(flags))
	if unread == nil {
		one.check(&p, &r)
	}
	return p, r.Err()
}

// MarshalJSON writes an object with every parameter, in the order of the table; null means never. The same keys and
// values make a file.
func (p Parameters) MarshalJSON() ([]byte, error) {
	one := policyOf(p.Policy)
	return one.table(&p).MarshalJSON()
}
