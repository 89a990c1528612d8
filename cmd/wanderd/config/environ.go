package config

import (
	"fmt"
	"slices"
	"strings"
)

// inHook is set for a hook and what it starts, together with more variables that are no settings.
const inHook = envPrefix + "HELD"

// fromEnviron reads the layer of the environment. An empty variable counts as not set. A variable that looks like a
// setting and is none gives a warning only: it may be meant for another version.
func fromEnviron(environ []string) (given map[ID]raw, warnings []string) {
	names := make(map[string]ID)
	for _, s := range Settings() {
		names[s.Env()] = s.ID
	}
	given = make(map[ID]raw)
	var unknown []string
	isHook := false
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		id, known := names[name]
		switch {
		case !strings.HasPrefix(name, envPrefix) || text == "":
		case name == inHook:
			isHook = true
		case known:
			given[id] = raw{text: text, origin: Origin{Layer: InEnvironment, Name: name}}
		default:
			unknown = append(unknown, name)
		}
	}
	if isHook {
		return given, nil
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		warnings = append(warnings, fmt.Sprintf("the environment variable %s is no setting: %s", name, nearestVariable(name)))
	}
	return given, warnings
}

// nearestVariable compares without the prefix, which would make everything look alike.
func nearestVariable(name string) string {
	var words []string
	for _, s := range Settings() {
		words = append(words, strings.TrimPrefix(s.Env(), envPrefix))
	}
	near := Nearest(strings.TrimPrefix(name, envPrefix), words)
	if near == "" {
		return "it is ignored"
	}
	return fmt.Sprintf("did you mean %q?", envPrefix+near)
}
