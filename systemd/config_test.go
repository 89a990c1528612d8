package systemd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// read reads wanderd.toml, also with what is commented out in it.
func read(t *testing.T, uncommented bool) *config.Layers {
	t.Helper()
	text, err := os.ReadFile("wanderd.toml")
	if err != nil {
		t.Fatal(err)
	}
	if uncommented {
		text = regexp.MustCompile(`(?m)^#([a-z\[])`).ReplaceAll(text, []byte("$1"))
	}
	file := filepath.Join(t.TempDir(), "wanderd.toml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	flags := config.NewFlags()
	if err := flags.Value(config.File.Setting()).Set(file); err != nil {
		t.Fatal(err)
	}
	layers := config.Read(flags, nil)
	if err := layers.Err(); err != nil {
		t.Fatalf("uncommented is %v: %v", uncommented, err)
	}
	return layers
}

func TestTheConfigurationAsInstalledSetsNothing(t *testing.T) {
	layers := read(t, false)
	for _, s := range config.Settings() {
		if v := layers.Value(s.ID); v.Origin.Layer == config.InFile {
			t.Errorf("%s is set, in line %d", s.Key, v.Origin.Line)
		}
	}
}

func TestTheConfigurationHasEveryKeyWithItsDefault(t *testing.T) {
	layers := read(t, true)
	for _, s := range config.Settings() {
		v := layers.Value(s.ID)
		switch {
		case s.ID == config.File:
		case v.Origin.Layer != config.InFile:
			t.Errorf("%s is missing", s.Key)
		case s.Default != "" && v.String(s.Kind) != s.Default:
			t.Errorf("%s is shown as %s, and is %s by default", s.Key, v.String(s.Kind), s.Default)
		}
	}
}
