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

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// NewLogger returns a logger that writes lines of at least the given level to out, or to the journal. Format and level
// must be valid values of their settings. It also sets how all loggers of the process write durations and times.
//
// The format auto means journald if the service manager has connected out to the journal, console if out is a terminal,
// and JSON otherwise. The console has colours unless NO_COLOR is set (no-color.org).
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
		writer = zerolog.NewConsoleWriter(asText, func(w *zerolog.ConsoleWriter) {
			w.Out, w.NoColor, w.TimeFormat = out, os.Getenv("NO_COLOR") != "" || cli.Columns(out) == 0, "15:04:05.000"
		})
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
	file, isFile := out.(*os.File)
	connected, err := journal.StderrIsJournalStream()
	switch {
	case format != config.LogAuto:
		return format
	case err == nil && connected && file == os.Stderr:
		return config.LogJournald
	case isFile && term.IsTerminal(int(file.Fd())):
		return config.LogConsole
	}
	return config.LogJSON
}

// asText makes text of a line. It leaves out the fields that message or host already contain.
func asText(w *zerolog.ConsoleWriter) {
	w.FieldsOrder, w.FieldsExclude = []string{"gate"}, []string{"member", "note"}
	w.FormatPrepare = quoteMessage
}

// quoteMessage escapes characters in a message that a terminal would obey instead of showing, as the console does in
// fields. Parts of a message may come from other hosts.
func quoteMessage(line map[string]any) error {
	text, ok := line[zerolog.MessageFieldName].(string)
	if !ok || !strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }) {
		return nil
	}
	line[zerolog.MessageFieldName] = strconv.Quote(text)
	return nil
}
