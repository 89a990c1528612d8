package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEverySettingIsComplete(t *testing.T) {
	key := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for _, s := range slices.Concat(Settings(), GateSettings()) {
		switch {
		case !key.MatchString(s.Key):
			t.Errorf("setting %d has the key %q", s.ID, s.Key)
		case s.Kind == 0:
			t.Errorf("%s has no kind", s.Key)
		case !strings.HasSuffix(s.Help, "."):
			t.Errorf("the help of %s is no sentence: %q", s.Key, s.Help)
		case s.scope != ofGate && s.Group == "":
			t.Errorf("%s is in no group, so help does not show it", s.Key)
		case s.Kind != Bool && s.Placeholder == "":
			t.Errorf("%s has no placeholder", s.Key)
		case s.Kind == Number && s.Least >= s.Most:
			t.Errorf("%s has the range from %d to %d", s.Key, s.Least, s.Most)
		case s.Default != "" && s.Rule != "":
			t.Errorf("%s has two defaults", s.Key)
		}
		for _, choice := range s.Choices {
			if !strings.Contains(s.Help+s.Placeholder, choice) && s.scope != ofGate {
				t.Errorf("the help of %s does not tell %q", s.Key, choice)
			}
		}
		if s.Default != "" {
			if _, err := (raw{text: s.Default}).parse(s); err != nil {
				t.Errorf("the default of %s: %v", s.Key, err)
			}
		}
	}
}

func TestSettingsHaveOneNameInThreeSpellings(t *testing.T) {
	s := MinInterval.Setting()
	if s.Flag() != "min-interval" || s.Env() != "WANDERD_MIN_INTERVAL" || s.Key != "min_interval" {
		t.Errorf("%s, %s, %s", s.Flag(), s.Env(), s.Key)
	}
	seen := make(map[string]bool)
	for _, s := range Settings() {
		if seen[s.Key] {
			t.Errorf("%s is there twice", s.Key)
		}
		seen[s.Key] = true
	}
	if len(Settings()) != numSettings-len([]ID{GateName, GatePolicy}) {
		t.Errorf("%d of %d settings have flags", len(Settings()), numSettings)
	}
}

// Each setting reaches Value from each layer by its name alone, and the higher layer wins.
func TestEverySettingCanBeSetInEveryLayer(t *testing.T) {
	samples := map[ID][3]string{
		Hook: {"/bin/a", "/bin/b", "/bin/c"}, Join: {"a:1", "b:1", "c:1"}, Alone: {"run", "wait", "run"},
		Walk: {"random", "shuffle", "sweep"}, Slots: {"16", "1", "2"}, Backups: {"0", "1", "4"}, OnLost: {"stop", "finish", "stop"},
		Bind: {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}, Advertise: {"10.0.0.1:1", "10.0.0.2:2", "10.0.0.3:3"},
		Insecure: {"true", "false", "true"}, LogFormat: {"json", "console", "journald"}, LogLevel: {"warn", "error", "debug"},
	}
	for _, s := range Settings() {
		v, ok := samples[s.ID]
		switch {
		case ok:
		case s.Kind == Time:
			v = [3]string{"11s", "12s", "13s"}
		default:
			v = [3]string{"/a", "/b", "/c"}
		}
		file := s.Key + " = \"" + v[0] + "\"\n"
		switch s.Kind {
		case Bool, Number:
			file = s.Key + " = " + v[0] + "\n"
		case List:
			file = s.Key + " = [\"" + v[0] + "\"]\n"
		case Text, Path, Time, Command:
		}
		if s.ID != File {
			l := reading{file: file}.read(t)
			expect(t, l, s, v[0], "wanderd.toml:1")
			l = reading{file: file, env: []string{s.Env() + "=" + v[1]}}.read(t)
			expect(t, l, s, v[1], s.Env())
			l = reading{file: file, env: []string{s.Env() + "="}}.read(t)
			expect(t, l, s, v[0], "wanderd.toml:1")
		}
		l := reading{file: "", env: []string{s.Env() + "=" + v[1]}, flags: map[ID][]string{s.ID: {v[2]}}}.read(t)
		expect(t, l, s, v[2], "--"+s.Flag())
	}
}

func expect(t *testing.T, l *Layers, s Setting, value, origin string) {
	t.Helper()
	if v := l.Value(s.ID); v.String(s.Kind) != value || v.Origin.String() != origin {
		t.Errorf("%s is %s from %s, want %s from %s (%v)", s.Key, v.String(s.Kind), v.Origin, value, origin, l.Err())
	}
}
