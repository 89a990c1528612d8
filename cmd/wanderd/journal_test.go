package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
)

// journalctl shows only the message, so it must contain why a hook failed, and which member joined.
func TestJournalMessagesContainTheFields(t *testing.T) {
	var journal bytes.Buffer
	log := zerolog.New(newJournalWriter(&journal)).With().Str("member", "3f2a91bc").Timestamp().Logger()
	log.Error().Str("note", "ran").Err(errors.New("exit status 1")).Uint64("seq", math.MaxUint64).
		Str("gate", "default").Msg("hook ended")
	var got map[string]any
	if err := json.Unmarshal(journal.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["time"] == "" {
		t.Error("it has no time")
	}
	if !bytes.Contains(journal.Bytes(), []byte(`"seq":18446744073709551615`)) {
		t.Errorf("the number has lost digits: %s", journal.Bytes())
	}
	delete(got, "time")
	delete(got, "seq")
	want := map[string]any{
		"message": `hook ended gate=default error="exit status 1" seq=18446744073709551615`,
		"level":   "error", "member": "3f2a91bc", "note": "ran", "error": "exit status 1", "gate": "default",
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("-got +want\n%s", d)
	}
}
