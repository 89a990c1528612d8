package statedir

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Roster is what a host knows of the roster of a strict gate.
type Roster struct {
	// Agreed is true if Voters are the whole roster, and every one of them has declared the same names and keys.
	Agreed bool `json:"agreed"`
	// Voters are the names of the roster whose keys are known, in the order of the names.
	Voters []policy.Voter `json:"voters"`
	// Former is the roster that was last agreed on, while Agreed is false; nil if there was none.
	Former []policy.Voter `json:"former,omitempty"`
}

const rosterVersion = 1

type rosterOnDisk struct {
	Version int    `json:"version"`
	Gate    string `json:"gate"`
	Roster
}

// RosterPath returns the path of a gate's roster.
func (d *Dir) RosterPath(gate string) string { return d.pathOf("roster", gate, ".json") }

// LoadRoster reads the roster of a gate; it is empty if none was saved. The error names the remedy.
func (d *Dir) LoadRoster(gate string) (Roster, error) {
	path := d.RosterPath(gate)
	text, found, err := d.load(path, "the roster of gate "+gate)
	if err != nil || !found {
		return Roster{}, err
	}
	r, err := decodeRoster(gate, text)
	if err != nil {
		return Roster{}, fmt.Errorf("the roster of gate %s in %s is damaged (%w): delete the file; the gate starts "+
			"here again when all "+
			"members of its roster are up and agree", gate, path, err)
	}
	return r, nil
}

// SaveRoster makes the roster of a gate durable before it returns. If it fails, the previous one is kept.
func (d *Dir) SaveRoster(gate string, r Roster) error {
	return d.save(d.RosterPath(gate), "the roster of gate "+gate,
		rosterOnDisk{Version: rosterVersion, Gate: gate, Roster: r})
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
	for _, list := range [][]policy.Voter{doc.Voters, doc.Former} {
		if err := checkVoters(list); err != nil {
			return Roster{}, err
		}
	}
	return doc.Roster, nil
}

// checkVoters refuses a list whose names or keys repeat or are out of order: no agent writes one.
func checkVoters(list []policy.Voter) error {
	seen := make(map[wire.MemberID]bool)
	for i, v := range list {
		if i > 0 && v.Name <= list[i-1].Name || v.Name == "" || v.ID.IsZero() || seen[v.ID] {
			return fmt.Errorf("%q, with the key of %s, is out of order, or listed twice", v.Name, v.ID.Short())
		}
		seen[v.ID] = true
	}
	return nil
}
