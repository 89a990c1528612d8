package systemd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// read reads wanderd.toml, on request with the lines that are commented out.
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
	layers := config.Read(nil, []string{"WANDERD_CONFIG=" + file})
	if err := layers.Err(); err != nil {
		t.Fatalf("uncommented is %v: %v", uncommented, err)
	}
	return layers
}

func TestTheConfigurationAsInstalledSetsNothing(t *testing.T) {
	for _, s := range read(t, false).Table {
		if s.Origin.Layer == settings.InFile {
			t.Errorf("%s is set, in line %d", s.Key, s.Origin.Line)
		}
	}
}

func TestTheConfigurationHasEveryKeyWithItsDefault(t *testing.T) {
	for _, s := range read(t, true).Table {
		switch shown := fmt.Sprint(s.Value.Plain()); {
		case s.NotInFile:
		case s.Origin.Layer != settings.InFile:
			t.Errorf("%s is missing", s.Key)
		case s.Default != "" && shown != s.Default:
			t.Errorf("%s is shown as %s, and is %s by default", s.Key, shown, s.Default)
		}
	}
}
