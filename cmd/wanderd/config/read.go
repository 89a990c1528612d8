package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/cmd/cli/settings"
)

const (
	// envPrefix begins the name of each of our variables.
	envPrefix = "WANDERD_"
	// inHook is set in the environment of a hook and of what it starts, together with other variables that are not
	// settings.
	inHook = envPrefix + "HELD"
)

// Layers is a configuration that has been read.
type Layers struct {
	settings.Reading
	// Agent is the agent's configuration, complete after [Layers.Check] except for its version, its log and its
	// observer.
	Agent agent.Config
	// LogFormat and LogLevel are among the choices of their settings.
	LogFormat, LogLevel string
	// Warnings are sentences about settings that are probably a mistake, but do no harm.
	Warnings []string

	// shared are the terms of all gates that do not set their own.
	shared                                                            terms
	alone, stop, bind, advertise, secretFile, file, trust, knownHosts string
	zone                                                              string
	// trustHook accepts hooks that other users of this host can replace.
	trustHook bool

	gates []*section
	// fromHook is true if there is one gate at most, that of --hook.
	fromHook bool
	// incomplete is true if a file has unknown keys, so that what seems to be missing may be one of them.
	incomplete bool
	// unread is true if there is a file that could not be read at all.
	unread bool
}

// Read reads all layers: flags, the environment as os.Environ returns it, and the file that one of the two names. Err
// reports what could not be understood.
func Read(flags settings.Flags, environ []string) *Layers {
	l := &Layers{}
	l.Reading = settings.NewReading(l.table(), "configuration")
	fromFlags := settings.Given(flags)
	fromEnv, unknown := l.Environ(environ, envPrefix)
	l.warnOf(unknown)
	var file *settings.File
	var gates []map[string]any
	if path := cmp.Or(fromFlags.Text("config"), fromEnv.Text("config")); path != "" {
		file, gates = l.readFile(path)
	}
	l.Apply(fromEnv)
	l.Apply(fromFlags)
	l.setDefaults()
	for i, content := range gates {
		l.gates = append(l.gates, l.readGate(file, fmt.Sprintf("%s.%d", gateKey, i), content))
	}
	if l.fromHook = len(gates) == 0; l.fromHook && !l.Of(&l.shared.Hook).IsFree() {
		g := l.hookGate()
		l.gates = append(l.gates, g)
		if top := l.Of(&l.shared.policy); top.IsFree() {
			l.shared.policy = g.policy
			top.Origin = g.Of(&g.policy).Origin
		}
	}
	return l
}

// warnOf warns of variables that look like settings but are not: they may be meant for another version.
func (l *Layers) warnOf(variables []string) {
	if slices.Contains(variables, inHook) {
		return
	}
	var words []string
	for _, s := range l.Table {
		words = append(words, strings.ToUpper(s.Key))
	}
	for _, name := range variables {
		remedy := "it is ignored"
		// With the prefix, all names would look alike.
		if near := settings.Nearest(strings.TrimPrefix(name, envPrefix), words); near != "" {
			remedy = fmt.Sprintf("did you mean %q?", envPrefix+near)
		}
		l.warn("the environment variable %s is not a setting: %s", name, remedy)
	}
}

func (l *Layers) warn(format string, args ...any) {
	l.Warnings = append(l.Warnings, fmt.Sprintf(format, args...))
}

// readFile reads the layer of the file, and returns its gates, which are read once everything else is known.
func (l *Layers) readFile(path string) (file *settings.File, gates []map[string]any) {
	file, err := settings.ReadFile(path, "the configuration file", "config")
	if err != nil {
		l.Complain("%s", err)
		l.unread = true
		return nil, nil
	}
	gates = l.gateTables(file)
	delete(file.Content, gateKey)
	l.Apply(l.Reading.Read(file, "", file.Content, func(key string) string { return l.unknownKey(key, "", l.Table) }))
	return file, gates
}

// unknownKey describes what is wrong with a key: a typing error, or a place at which it is not allowed.
func (l *Layers) unknownKey(key, where string, t settings.Table) string {
	l.incomplete = true
	words := t.Keys()
	switch inGate := where != ""; {
	case key == "config":
		return fmt.Sprintf("%q cannot be set in a file: pass --%[1]s", key)
	case inGate && l.Find(key) != nil:
		return fmt.Sprintf("%q is not a setting of a gate: move it to the top of the file, before the first [[gate]]",
			key)
	case !inGate:
		words = append(words, gateKey)
	}
	slices.Sort(words)
	return fmt.Sprintf("unknown key %q%s: %s", key, where,
		settings.DidYouMean(key, words, "\"wanderd config show\" lists the keys"))
}
