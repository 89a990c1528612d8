package statedir

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

func sample() Record {
	return Record{
		HasRun:  true,
		LastRun: time.Unix(1_800_000_000, 123_456_789),
		Boot:    "81572068-96ac-4645-852d-ee1361038aea", SinceBoot: -5 * time.Second, Synced: true,
		Seq: wire.MaxSeq, Protocol: "wander", ProtocolVersion: 1,
		Memo: soft.Memo{
			Token: wire.TokenID{
				Birth: 1_799_999_999_000_000_001, Generator: wire.MemberID{1, 2, 0xff}, Random: 1<<64 - 1,
			},
			Slot: 15,
		}.Bytes(),

		LastSuccess: time.Unix(1_800_000_060, 0),
	}
}

// cutShort is a record of a run that a stop has cut short.
func cutShort() Record {
	r := sample()
	r.Cut, r.Before = true, Before{LastRun: time.Unix(1_799_000_000, 5), SinceBoot: -time.Hour, Memo: r.Memo}
	return r
}

func encode(gate string, r Record) ([]byte, error) {
	text, err := json.Marshal(documentOf(gate, r))
	return append(text, '\n'), err
}

func same(a, b Record) bool {
	return a.HasRun == b.HasRun && a.LastRun.Equal(b.LastRun) && a.Memo == b.Memo && a.Seq == b.Seq &&
		a.Protocol == b.Protocol && a.ProtocolVersion == b.ProtocolVersion &&
		a.LastSuccess.Equal(b.LastSuccess) && a.Boot == b.Boot && a.SinceBoot == b.SinceBoot && a.Synced == b.Synced &&
		a.Cut == b.Cut && a.Before.LastRun.Equal(b.Before.LastRun) && a.Before.SinceBoot == b.Before.SinceBoot &&
		a.Before.Memo == b.Before.Memo
}

func TestARecordIsReadAsItWasSaved(t *testing.T) {
	d := open(t, t.TempDir())
	if r, found, err := d.Load("default"); found || err != nil || !same(r, Record{}) {
		t.Errorf("before the first save: %+v, %v, %v", r, found, err)
	}
	for _, want := range []Record{{}, {Seq: 7}, sample(), cutShort()} {
		if err := d.Save("default", want); err != nil {
			t.Fatal(err)
		}
		if got, found, err := d.Load("default"); !found || err != nil || !same(got, want) {
			t.Errorf("%+v, %v, %v; want %+v", got, found, err, want)
		}
	}
}

func TestTheFormOnDiskStays(t *testing.T) {
	onDisk := `{"version":2,"gate":"default","protocol":"wander","protocol_version":1,"seq":9223372036854775807,` +
		`"last_run":"2027-01-15T08:00:00.123456789Z","boot":"81572068-96ac-4645-852d-ee1361038aea",` +
		`"since_boot_ns":-5000000000,"synced":true,"memo":"18fae27658193601` + `0102ff00000000000000000000000000` +
		`ffffffffffffffff` + `0f` +
		strings.Repeat("00", 15) + `","last_success":"2027-01-15T08:01:00Z"}` + "\n"
	text, err := encode("default", sample())
	if err != nil || string(text) != onDisk {
		t.Errorf("%s, %v", text, err)
	}
	if got, err := decode("default", []byte(onDisk)); err != nil || !same(got, sample()) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A record of version 1 names no protocol, and contains the token of the last run of a soft gate.
func TestARecordOfVersion1IsRead(t *testing.T) {
	const onDisk = `{"version":1,"gate":"default","seq":9223372036854775807,` +
		`"last_run":"2027-01-15T08:00:00.123456789Z","boot":"81572068-96ac-4645-852d-ee1361038aea",` +
		`"since_boot_ns":-5000000000,"synced":true,"last_token":{"birth":1799999999000000001,` +
		`"generator":"0102ff00000000000000000000000000","random":18446744073709551615,"slot":15},` +
		`"last_success":"2027-01-15T08:01:00Z"}` + "\n"
	if got, err := decode("default", []byte(onDisk)); err != nil || !same(got, sample()) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A record of an older agent has no boot.
func TestARecordOfAnOlderAgentIsRead(t *testing.T) {
	const onDisk = `{"version":1,"gate":"default","seq":7,"last_run":"2027-01-15T08:00:00Z","last_token":{"birth":1,` +
		`"generator":"0102ff00000000000000000000000000","random":2}}` + "\n"
	want := Record{
		HasRun: true, LastRun: time.Unix(1_800_000_000, 0), Seq: 7, Protocol: "wander", ProtocolVersion: 1,
		Memo: soft.Memo{Token: wire.TokenID{Birth: 1, Generator: wire.MemberID{1, 2, 0xff}, Random: 2}}.Bytes(),
	}
	if got, err := decode("default", []byte(onDisk)); err != nil || !same(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestGatesDoNotShareAFile(t *testing.T) {
	d := open(t, t.TempDir())
	long := strings.Repeat("x", 300)
	gates := []string{
		"default", "Default", "../default", "a/b", "a b", "", ".", "größe", long, long + "y", "gate-default.json",
	}
	for i, gate := range gates {
		if err := d.Save(gate, Record{Seq: wire.Seq(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	for i, gate := range gates {
		if r, found, err := d.Load(gate); !found || err != nil || r.Seq != wire.Seq(i+1) {
			t.Errorf("%q: %+v, %v, %v", gate, r, found, err)
		}
	}
	entries, err := os.ReadDir(d.Path())
	if err != nil || len(entries) != len(gates)+1 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}

func TestEveryTruncationIsNoticed(t *testing.T) {
	whole, err := encode("default", sample())
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) - 1 { // the last byte is a line end
		if r, err := decode("default", whole[:n]); err == nil {
			t.Errorf("%q was read as %+v", whole[:n], r)
		}
	}
}

func TestADamagedRecordNamesTheFileAndTheRemedy(t *testing.T) {
	d := open(t, t.TempDir())
	path := filepath.Join(d.Path(), "gate-default.json")
	for name, c := range map[string]struct{ text, want string }{
		"empty":           {"", "empty"},
		"zeros":           {"\x00\x00\x00\x00", "invalid character"},
		"another format":  {"[]", "array"},
		"a later version": {`{"version":3,"gate":"default","seq":1,"lease":3}`, "version 3"},
		"no version":      {`{"gate":"default","seq":1}`, "version 0"},
		"unknown key":     {`{"version":2,"gate":"default","seq":1,"lease":3}`, "lease"},
		"short memo":      {`{"version":2,"gate":"default","protocol":"wander","seq":1,"memo":"00"}`, "48 bytes"},
		"bad memo": {`{"version":2,"gate":"default","protocol":"wander","seq":1,"memo":"` +
			strings.Repeat("xy", 48) + `"}`, "48 bytes"},
		"long memo": {`{"version":2,"gate":"default","protocol":"wander","seq":1,"memo":"` +
			strings.Repeat("00", 49) + `"}`, "48 bytes"},
		"unknown keys": {`{"version":1,"gate":"default","seq":1,"lease":3}`, "lease"},
		"keys to come": {
			`{"version":1,"gate":"default","seq":1,"protocol":"wander","protocol_version":1}`, "another version",
		},
		"keys of before": {
			`{"version":2,"gate":"default","protocol":"wander","seq":1,"last_token":{"birth":1}}`, "another version",
		},
		"another gate": {`{"version":1,"gate":"other","seq":1}`, `"other"`},
		"seq too high": {`{"version":1,"gate":"default","seq":9223372036854775808}`, "9223372036854775808"},
		"negative seq": {`{"version":1,"gate":"default","seq":-1}`, "seq"},
		"half a run":   {`{"version":1,"gate":"default","seq":1,"last_run":"2027-01-15T08:00:00Z"}`, "last_token"},
		"no time":      {`{"version":1,"gate":"default","seq":1,"last_run":"yesterday"}`, "yesterday"},
		"bad generator": {
			`{"version":1,"gate":"default","seq":1,"last_run":"2027-01-15T08:00:00Z",` +
				`"last_token":{"generator":"0102"}}`,
			"0102",
		},
		"no such slot": {
			`{"version":1,"gate":"default","seq":1,"last_run":"2027-01-15T08:00:00Z","last_token":{"generator":"` +
				strings.Repeat("01", 16) + `","slot":64}}`, "slot 64",
		},
		"rubbish behind": {`{"version":1,"gate":"default","seq":1}{}`, "after top-level value"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, found, err := d.Load("default")
		if found {
			t.Errorf("%s: it was read", name)
		}
		says(t, err, path, c.want, "delete it", "min_interval")
	}
	if err := d.Save("default", sample()); err != nil {
		t.Fatal(err)
	}
	if _, found, err := d.Load("default"); !found || err != nil {
		t.Error("saving does not mend it:", err)
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Record{Seq: wire.Seq(rapid.Uint64Max(uint64(wire.MaxSeq)).Draw(t, "seq"))}
		if rapid.Bool().Draw(t, "run") {
			want.HasRun = true
			want.LastRun = time.Unix(0, rapid.Int64().Draw(t, "last run"))
		}
		copy(want.Memo[:], rapid.SliceOfN(rapid.Byte(), 0, len(want.Memo)).Draw(t, "memo"))
		want.Protocol, want.ProtocolVersion = rapid.StringMatching("[a-z]*").Draw(t, "protocol"), rapid.Uint8().
			Draw(t, "version")
		text, err := encode("gate", want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decode("gate", text); err != nil || !same(got, want) {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
	})
}

// BenchmarkSave measures the save before a hook may start. Most of it is the disk's two flushes.
func BenchmarkSave(b *testing.B) {
	d := open(b, b.TempDir())
	for b.Loop() {
		if err := d.Save("default", sample()); err != nil {
			b.Fatal(err)
		}
	}
}
