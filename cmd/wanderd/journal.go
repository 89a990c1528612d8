package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/rs/zerolog"
)

// journalWriter puts the fields of each line into its message, as on a console, before it writes the line to the
// journal. The journal keeps the fields too, but journalctl shows only the message.
type journalWriter struct {
	text    zerolog.ConsoleWriter
	journal io.Writer
}

func newJournalWriter(journal io.Writer) journalWriter {
	return journalWriter{
		text: zerolog.NewConsoleWriter(asText, func(w *zerolog.ConsoleWriter) {
			w.NoColor, w.PartsOrder = true, []string{zerolog.MessageFieldName}
		}),
		journal: journal,
	}
}

// Write writes one line, in JSON. It is safe for concurrent use.
func (j journalWriter) Write(line []byte) (int, error) {
	var message strings.Builder
	text := j.text
	text.Out = &message
	if _, err := text.Write(line); err != nil {
		return 0, err
	}
	fields := make(map[string]any)
	numbers := json.NewDecoder(bytes.NewReader(line))
	numbers.UseNumber() // a fencing number has more digits than a float
	if err := numbers.Decode(&fields); err != nil {
		return 0, err
	}
	fields[zerolog.MessageFieldName] = strings.TrimRight(message.String(), "\n")
	whole, err := json.Marshal(fields)
	if err != nil {
		return 0, err
	}
	if _, err := j.journal.Write(whole); err != nil {
		return 0, err
	}
	return len(line), nil
}
