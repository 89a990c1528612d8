package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/rs/zerolog"
	"github.com/rs/zerolog/journald"
	"golang.org/x/term"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// NewLogger returns a logger that writes lines of at least the given level to out, or to the journal. Format and level must be
// valid values of their settings. It also sets how all loggers of the process write durations and times.
//
// The format auto means journald if the service manager has connected out to the journal, console if out is a terminal, and JSON
// otherwise. The console has colours unless NO_COLOR is set (no-color.org).
func NewLogger(format, level string, out io.Writer) (zerolog.Logger, error) {
	zerolog.DurationFieldFormat = zerolog.DurationFormatString
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
	least, err := zerolog.ParseLevel(level)
	if err != nil {
		return zerolog.Nop(), fmt.Errorf("log level %q: %w", level, err)
	}
	var writer io.Writer
	switch chooseFormat(format, out) {
	case config.LogConsole:
		writer = consoleWriter(out)
	case config.LogJournald:
		if !journal.Enabled() {
			return zerolog.Nop(), errors.New("this host has no journal: choose another --log-format")
		}
		writer = newJournalWriter(journald.NewJournalDWriter())
	default:
		writer = out
	}
	return zerolog.New(writer).Level(least).With().Timestamp().Logger(), nil
}

// chooseFormat resolves auto.
func chooseFormat(format string, out io.Writer) string {
	if format != config.LogAuto {
		return format
	}
	file, ok := out.(*os.File)
	if !ok {
		return config.LogJSON
	}
	if connected, err := journal.StderrIsJournalStream(); err == nil && connected && file == os.Stderr {
		return config.LogJournald
	}
	if term.IsTerminal(int(file.Fd())) {
		return config.LogConsole
	}
	return config.LogJSON
}

// fieldsFirst are the fields that the text of a line shows first, fieldsToldAlready those that it omits, because message or host
// already contain them.
func fieldsFirst() []string       { return []string{"gate"} }
func fieldsToldAlready() []string { return []string{"member", "note"} }

func consoleWriter(out io.Writer) zerolog.ConsoleWriter {
	file, isFile := out.(*os.File)
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !isFile || !term.IsTerminal(int(file.Fd()))
	return zerolog.NewConsoleWriter(func(w *zerolog.ConsoleWriter) {
		w.Out, w.NoColor, w.TimeFormat = out, plain, "15:04:05.000"
		w.FieldsOrder, w.FieldsExclude = fieldsFirst(), fieldsToldAlready()
		w.FormatPrepare = quoteMessage
	})
}

// quoteMessage escapes in a message what a terminal would not show but obey, as the console does in fields. Parts of a message may come
// from other hosts.
func quoteMessage(line map[string]any) error {
	text, ok := line[zerolog.MessageFieldName].(string)
	if !ok || !strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }) {
		return nil
	}
	line[zerolog.MessageFieldName] = strconv.Quote(text)
	return nil
}
