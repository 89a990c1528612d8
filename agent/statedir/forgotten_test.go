package statedir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wanderd/wanderd/wire"
)

func TestTheForgottenMembersAreReadAsTheyWereSaved(t *testing.T) {
	d := open(t, t.TempDir())
	if list, err := d.LoadForgotten(); err != nil || len(list) > 0 {
		t.Errorf("before the first save: %v, %v", list, err)
	}
	want := []Forgotten{
		{
			Member: wire.MemberID{1, 0xff}, Name: "höst \"1\"", Who: "alice@host2",
			Directive: wire.Directive{Stamp: 1 << 62, By: wire.MemberID{2}, Until: wire.ForEver},
		},
		{Member: wire.MemberID{3}, Name: "host3", Directive: wire.Directive{Stamp: 7, By: wire.MemberID{3}}},
	}
	if err := d.SaveForgotten(want); err != nil {
		t.Fatal(err)
	}
	if got, err := d.LoadForgotten(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestADamagedListOfForgottenMembersIsNamedWithTheRemedy(t *testing.T) {
	const id, by = `"member":"01000000000000000000000000000000"`, `"by":"02000000000000000000000000000000"`
	for name, text := range map[string]string{
		"empty":           "",
		"of a newer kind": `{"version":2,"members":[]}`,
		"no member":       `{"version":1,"members":[{"name":"a","stamp":1,` + by + `,"until":0}]}`,
		"no name":         `{"version":1,"members":[{` + id + `,"stamp":1,` + by + `,"until":0}]}`,
		"no stamp":        `{"version":1,"members":[{` + id + `,"name":"a",` + by + `,"until":0}]}`,
		"no giver":        `{"version":1,"members":[{` + id + `,"name":"a","stamp":1,"until":0}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir())
			path := filepath.Join(d.Path(), forgottenName)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			list, err := d.LoadForgotten()
			if len(list) > 0 {
				t.Errorf("%v", list)
			}
			says(t, err, path, "delete it", "the other members")
		})
	}
}
