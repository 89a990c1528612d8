package wander_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

func TestEveryNoteHasANumberAndANameOfItsOwn(t *testing.T) {
	byName, byNumber := map[string]bool{}, map[policy.Note]bool{}
	for _, n := range wander.Descriptor().Notes {
		if byName[n.Name] || byNumber[n.Note] || n.Note == 0 || n.Name == "" || n.Text == "" {
			t.Errorf("it is not the only one, or not whole: %+v", n)
		}
		byName[n.Name], byNumber[n.Note] = true, true
		if strings.Trim(n.Name, "abcdefghijklmnopqrstuvwxyz_") != "" {
			t.Errorf("note %d is called %q: small letters and underscores only, it becomes a label", n.Note, n.Name)
		}
	}
}

// names are those of some notes.
func names(notes []policy.Note) []string { return wander.Descriptor().Notes.Names(notes) }

func TestEveryKindOfMessageHasANumberAndANameOfItsOwn(t *testing.T) {
	byName, byNumber := map[string]bool{}, map[wire.Kind]bool{}
	for _, k := range wander.Descriptor().Kinds {
		if byName[k.Name] || byNumber[k.Kind] || k.Kind == 0 || k.Name == "" {
			t.Errorf("it is not the only one, or not whole: %+v", k)
		}
		byName[k.Name], byNumber[k.Kind] = true, true
	}
	if f := wander.Descriptor(); policy.ProtocolName(f.ID) != f.Name {
		t.Errorf("number %d is %s's, and its name is %s", f.ID, policy.ProtocolName(f.ID), f.Name)
	}
}

// README: an orphaned operation has a tenth of a skip.
func TestAnOrphanHasATenthOfThePatience(t *testing.T) {
	for skip, want := range map[time.Duration]time.Duration{
		time.Second: 100 * time.Millisecond, time.Minute: 6 * time.Second, time.Millisecond: 25 * time.Millisecond,
	} {
		if got := (wander.Settings{Skip: skip}).OrphanGrace(); got != want {
			t.Errorf("with a skip of %v an orphan has %v, want %v", skip, got, want)
		}
	}
}
