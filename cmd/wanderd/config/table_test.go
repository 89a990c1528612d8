package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/cmd/cli/settings"
)

func TestEverySettingIsComplete(t *testing.T) {
	key := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	inGate := GateTable()
	for _, s := range slices.Concat(Table(), inGate) {
		v := settings.FlagValue{Setting: s}
		switch hasFlag := !slices.Contains(inGate, s); {
		case !key.MatchString(s.Key):
			t.Errorf("the key %q", s.Key)
		case !strings.HasSuffix(s.Help, "."):
			t.Errorf("the help of %s is no sentence: %q", s.Key, s.Help)
		case hasFlag && s.Group == "":
			t.Errorf("%s is in no group, so help does not show it", s.Key)
		case !isBool(s) && v.Type() == "":
			t.Errorf("%s has no placeholder", s.Key)
		case s.Default != "" && s.Rule != "":
			t.Errorf("%s has two defaults", s.Key)
		default:
			for _, choice := range s.Value.Choices {
				if !strings.Contains(s.Help+v.Type(), choice) {
					t.Errorf("the help of %s does not tell %q", s.Key, choice)
				}
			}
		}
	}
	if err := Read(nil, nil).Err(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

func isBool(s *settings.Setting) bool {
	_, is := s.Value.Plain().(bool)
	return is
}

// shownAs returns a value as it is written in a file.
func shownAs(s *settings.Setting) string {
	var p page
	p.setting(s)
	return strings.TrimPrefix(strings.TrimPrefix(p.lines[0][0], "# "), s.Key+" = ")
}

// Each setting reaches its variable from each layer by its name alone, and the higher layer wins.
func TestEverySettingCanBeSetInEveryLayer(t *testing.T) {
	samples := map[string][3]string{
		"join": {"a:1", "b:1", "c:1"}, "alone": {"run", "wait", "run"}, "stop": {"drain", "end", "drain"},
		"slots": {"64", "1", "2"}, "backups": {"0", "1", "4"}, "stop_after": {"3", "8", "1"},
		"walk": {"random", "shuffle", "sweep"}, "on_lost": {"stop", "finish", "stop"},
		"policy":  {"ring", "call", "tree"},
		"request": {"always", "q", "d"}, "insecure": {"true", "false", "true"}, "trust_hook": {"true", "false", "true"},
		"bind": {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}, "advertise": {"10.0.0.1:1", "10.0.0.2:2", "10.0.0.3:3"},
		"log_format": {"json", "console", "journald"}, "log_level": {"warn", "error", "debug"},
		"trust": {"known_hosts", "secret", "known_hosts"},
		"hook":  {"/bin/a", "/bin/b", "/bin/c"}, "config": {"/a", "/b", "/c"},
		"window": {
			"Mon..Fri 01:00-02:00 UTC", "Sat,Sun 03:00-04:00", "05:00-06:00 Europe/Berlin",
		}, "window_hard": {"true", "false", "true"},
		"ask_before_run": {"true", "false", "true"}, "once": {"true", "false", "true"},
		"max_down":  {"5%", "10%", "100%"},
		"keep_over": {"stand-still", "give-up", "stand-still"},
	}
	for _, s := range Table() {
		v, ok := samples[s.Key]
		switch {
		case ok:
		case (&settings.FlagValue{Setting: s}).Type() == "DURATION":
			v = [3]string{"11s", "12s", "13s"}
		default:
			v = [3]string{"/a", "/b", "/c"}
		}
		env := "WANDERD_" + strings.ToUpper(s.Key)
		written := func(text string) string {
			if isBool(s) {
				return text
			}
			switch s.Key {
			case "slots", "backups", "stop_after":
				return text
			case "join", "hook", "ready", "after", "roster", "first", "window", "on_event", "events":
				return "[\"" + text + "\"]"
			}
			return "\"" + text + "\""
		}
		expect := func(l *Layers, value, origin string) {
			t.Helper()
			if got := l.Find(s.Key); shownAs(got) != written(value) || got.Origin.String() != origin {
				t.Errorf("%s is %v from %s, want %s from %s (%v)", s.Key, got.Value.Plain(), got.Origin, value, origin,
					l.Err())
			}
		}
		file := s.Key + " = " + written(v[0]) + "\n"
		if s.Key != "config" {
			expect(reading{file: file}.read(t), v[0], "wanderd.toml:1")
			expect(reading{file: file, env: []string{env + "=" + v[1]}}.read(t), v[1], env)
			expect(reading{file: file, env: []string{env + "="}}.read(t), v[0], "wanderd.toml:1")
		}
		expect(reading{
			env: []string{env + "=" + v[1]}, flags: map[string][]string{s.Key: {v[2]}},
		}.read(t), v[2], "--"+s.Flag())
	}
}
