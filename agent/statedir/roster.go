package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Roster is what a host knows of the roster of a strict gate.
type Roster struct {
	// Voters are the names of the roster whose keys are known, in the order of the names.
	Voters []policy.Voter
	// Agreed says that Voters are the whole roster, and that every one of them has declared the same names and keys.
	Agreed bool
	// Former is the roster that was last agreed on, while Agreed is not set; nil if there was none.
	Former []policy.Voter
}

const (
	rosterVersion = 1
	// maxRoster bounds the file, in bytes.
	maxRoster = 256 << 10
)

// rosterOnDisk is a roster on disk.
type rosterOnDisk struct {
	Version int           `json:"version"`
	Gate    string        `json:"gate"`
	Agreed  bool          `json:"agreed"`
	Voters  []voterOnDisk `json:"voters"`
	Former  []voterOnDisk `json:"former,omitempty"`
}

type voterOnDisk struct {
	Name   string `json:"name"`
	Member string `json:"member"`
}

// RosterPath is the file of a gate's roster.
func (d *Dir) RosterPath(gate string) string {
	return filepath.Join(d.path, fileName("roster", gate)+".json")
}

// LoadRoster reads the roster of a gate; it is empty if none was saved. The error names the remedy.
func (d *Dir) LoadRoster(gate string) (Roster, error) {
	path := d.RosterPath(gate)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Roster{}, nil
	}
	if err != nil {
		return Roster{}, d.explain("cannot read the roster of gate "+gate, err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxRoster))
	if err != nil {
		return Roster{}, d.explain("cannot read the roster of gate "+gate, err)
	}
	r, err := decodeRoster(gate, text)
	if err != nil {
		return Roster{}, fmt.Errorf("the roster of gate %s in %s is damaged (%w): delete the file; the gate starts here again when all "+
			"members of its roster are up and agree", gate, path, err)
	}
	return r, nil
}

// SaveRoster makes the roster of a gate durable before it returns. If it fails, the previous one is kept.
func (d *Dir) SaveRoster(gate string, r Roster) error {
	doc := rosterOnDisk{Version: rosterVersion, Gate: gate, Agreed: r.Agreed, Voters: onDisk(r.Voters), Former: onDisk(r.Former)}
	text, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("cannot save the roster of gate %s: %w", gate, err)
	}
	if err := d.replace(d.RosterPath(gate), append(text, '\n')); err != nil {
		return d.explain("cannot save the roster of gate "+gate, err)
	}
	return nil
}

func onDisk(voters []policy.Voter) []voterOnDisk {
	var list []voterOnDisk
	for _, v := range voters {
		list = append(list, voterOnDisk{Name: v.Name, Member: v.ID.String()})
	}
	return list
}

func decodeRoster(gate string, text []byte) (Roster, error) {
	var doc rosterOnDisk
	if err := strictly(text, &doc); err != nil {
		return Roster{}, err
	}
	switch {
	case doc.Version != rosterVersion:
		return Roster{}, fmt.Errorf("it has version %d, this wanderd knows version %d", doc.Version, rosterVersion)
	case doc.Gate != gate:
		return Roster{}, fmt.Errorf("it belongs to gate %q", doc.Gate)
	}
	voters, err := votersOf(doc.Voters)
	if err != nil {
		return Roster{}, err
	}
	former, err := votersOf(doc.Former)
	return Roster{Voters: voters, Agreed: doc.Agreed, Former: former}, err
}

// votersOf refuses a list in which a name or a key is not above all before it or is there twice: no agent writes one.
func votersOf(list []voterOnDisk) (voters []policy.Voter, err error) {
	seen := make(map[wire.MemberID]bool)
	for i, v := range list {
		id, err := wire.ParseMemberID(v.Member)
		switch {
		case err != nil:
			return nil, err
		case i > 0 && v.Name <= list[i-1].Name || v.Name == "" || seen[id]:
			return nil, fmt.Errorf("%q, with the key of %s, is not in order, or a second time there", v.Name, id.Short())
		}
		seen[id] = true
		voters = append(voters, policy.Voter{Name: v.Name, ID: id})
	}
	return voters, nil
}
