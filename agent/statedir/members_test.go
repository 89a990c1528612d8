package statedir

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/wire"
)

func TestTheMembersAreReadAsTheyWereSaved(t *testing.T) {
	d := open(t, t.TempDir())
	if list, found, err := d.LoadMembers(); found || err != nil || len(list) > 0 {
		t.Errorf("before the first save: %v, %v, %v", list, found, err)
	}
	gone := time.Unix(1_800_000_000, 0).UTC()
	for _, want := range [][]membership.Remembered{
		nil,
		{
			{Name: "host1", ID: wire.MemberID{1, 0xff}, Addr: netip.MustParseAddrPort("10.0.0.1:7946")},
			{Name: "höst \"2\"", ID: wire.MemberID{2}, Addr: netip.MustParseAddrPort("[2001:db8::2]:1"), Gone: gone},
			{
				Name: "host3", ID: wire.MemberID{3}, Addr: netip.MustParseAddrPort("10.0.0.3:7946"), Gone: gone,
				Left: true,
			},
		},
	} {
		if err := d.SaveMembers(want); err != nil {
			t.Fatal(err)
		}
		if got, found, err := d.LoadMembers(); !found || err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, %v; want %v", got, found, err, want)
		}
	}
	info, err := os.Stat(filepath.Join(d.Path(), membersName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestADamagedListOfMembersIsNamedWithTheRemedy(t *testing.T) {
	for name, text := range map[string]string{
		"empty":           "",
		"cut off":         `{"version":1,"members":[{"na`,
		"of a newer kind": `{"version":2,"members":[]}`,
		"a wrong id":      `{"version":1,"members":[{"name":"a","id":"x","addr":"10.0.0.1:1"}]}`,
		"a wrong address": `{"version":1,"members":[{"name":"a","id":"01000000000000000000000000000000",` +
			`"addr":"nowhere"}]}`,
		"no id":      `{"version":1,"members":[{"name":"a","addr":"10.0.0.1:1"}]}`,
		"no address": `{"version":1,"members":[{"name":"a","id":"01000000000000000000000000000000"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir())
			path := filepath.Join(d.Path(), membersName)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			list, found, err := d.LoadMembers()
			if found || len(list) > 0 {
				t.Errorf("%v, %v", list, found)
			}
			says(t, err, path, "delete it", "--join")
		})
	}
}
