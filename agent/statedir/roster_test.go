package statedir

import (
	"os"
	"reflect"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

func TestARosterIsReadAsItWasSaved(t *testing.T) {
	d := open(t, t.TempDir())
	voters := []policy.Voter{{Name: "a", ID: wire.MemberID{1}}, {Name: "höst \"2\"", ID: wire.MemberID{2, 0xff}}}
	for _, want := range []Roster{{}, {Voters: voters, Agreed: true}, {Voters: voters[:1], Former: voters}} {
		if err := d.SaveRoster("g", want); err != nil {
			t.Fatal(err)
		}
		if got, err := d.LoadRoster("g"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		if got, err := d.LoadRoster("other"); err != nil || !reflect.DeepEqual(got, Roster{}) {
			t.Errorf("of another gate: %+v, %v", got, err)
		}
	}
}

func TestADamagedRosterIsRefused(t *testing.T) {
	const a, b = "00000000000000000000000000000001", "00000000000000000000000000000002"
	for name, text := range map[string]string{
		"nothing":         "",
		"another version": `{"version":2,"gate":"g","agreed":true,"voters":[]}`,
		"another gate":    `{"version":1,"gate":"h","agreed":true,"voters":[]}`,
		"one name twice": `{"version":1,"gate":"g","agreed":true,"voters":[{"name":"a","member":"` + a +
			`"},{"name":"a","member":"` + b + `"}]}`,
		"one key twice": `{"version":1,"gate":"g","agreed":true,"voters":[{"name":"a","member":"` + a +
			`"},{"name":"b","member":"` + a + `"}]}`,
		"no key": `{"version":1,"gate":"g","agreed":true,"voters":[{"name":"a","member":"12"}]}`,
		"a former one": `{"version":1,"gate":"g","agreed":false,"voters":[],"former":[{"name":"","member":"` + a +
			`"}]}`,
		"an unknown key": `{"version":1,"gate":"g","agreed":true,"voters":[],"forced":true}`,
	} {
		d := open(t, t.TempDir())
		if err := os.WriteFile(d.RosterPath("g"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := d.LoadRoster("g"); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
