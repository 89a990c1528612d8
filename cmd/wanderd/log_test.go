package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

func TestLogIsJSONUnlessOnATerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if got := chooseFormat(config.LogAuto, file); got != config.LogJSON {
		t.Errorf("a file gets %s", got)
	}
	if got := chooseFormat(config.LogAuto, &bytes.Buffer{}); got != config.LogJSON {
		t.Errorf("a buffer gets %s", got)
	}
	if got := chooseFormat(config.LogConsole, file); got != config.LogConsole {
		t.Errorf("what was asked for becomes %s", got)
	}
}

func TestLogLinesAreStructured(t *testing.T) {
	var out bytes.Buffer
	log, err := NewLogger(config.LogJSON, "info", &out)
	if err != nil {
		t.Fatal(err)
	}
	log.Debug().Msg("not shown")
	log.Info().Dur("took", 1500*time.Millisecond).Msg("shown")
	var line struct{ Level, Message, Took, Time string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse(time.RFC3339, line.Time); err != nil || line.Level != "info" || line.Message != "shown" ||
		line.Took != "1.5s" {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestConsoleLinesArePlainWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	log, err := NewLogger(config.LogConsole, "debug", &out)
	if err != nil {
		t.Fatal(err)
	}
	log.Info().Str("member", "3f2a91bc").Str("note", "passed").Str("a", "1").Str("gate", "default").Msg("token passed")
	if got := out.String(); !strings.HasSuffix(got, " INF token passed gate=default a=1\n") ||
		strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

func TestTextOfOtherMembersIsQuotedInEveryFormat(t *testing.T) {
	const foreign = "a\x1b[2J\u202eb\nc\u009bd"
	for _, format := range []string{config.LogConsole, config.LogJSON, config.LogJournald} {
		var out bytes.Buffer
		log := zerolog.New(newJournalWriter(&out))
		if format != config.LogJournald {
			var err error
			if log, err = NewLogger(format, "debug", &out); err != nil {
				t.Fatal(err)
			}
		}
		log.Info().Str("name", foreign).Msg("a member says " + foreign)
		if lines := strings.Count(out.String(), "\n"); strings.Contains(out.String(), "\x1b") || lines > 1 {
			t.Errorf("%s: %q", format, out.String())
		}
		if format == config.LogConsole && strings.ContainsAny(out.String(), "\u202e\u009b") {
			t.Errorf("%s: %q", format, out.String())
		}
	}
	var out bytes.Buffer
	log, err := NewLogger(config.LogConsole, "debug", &out)
	if err != nil {
		t.Fatal(err)
	}
	log.Info().Msg("tab\tand ümlaut")
	if !strings.HasSuffix(out.String(), " INF tab\tand ümlaut\n") {
		t.Errorf("%q", out.String())
	}
}

func TestUnknownLevelIsAnError(t *testing.T) {
	if _, err := NewLogger(config.LogJSON, "loud", &bytes.Buffer{}); err == nil {
		t.Error("no error")
	}
}
