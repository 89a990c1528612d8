package statedir

import (
	"fmt"
	"path/filepath"

	"github.com/wanderd/wanderd/membership"
)

const (
	membersName    = "members.json"
	membersVersion = 1
)

type membersOnDisk struct {
	Version int                     `json:"version"`
	Members []membership.Remembered `json:"members"`
}

// LoadMembers reads the members of the fleet; found is false if none were ever saved. The error names the remedy.
func (d *Dir) LoadMembers() (list []membership.Remembered, found bool, err error) {
	path := filepath.Join(d.path, membersName)
	text, found, err := d.load(path, "the list of members")
	if err != nil || !found {
		return nil, false, err
	}
	if list, err = decodeMembers(text); err != nil {
		return nil, false, fmt.Errorf("the list of members %s is damaged (%w): delete it; the agent then finds its "+
			"fleet by --join only", path, err)
	}
	return list, true, nil
}

// SaveMembers makes the list durable before it returns. If it fails, the previous list is kept. It is safe to call
// beside other methods.
func (d *Dir) SaveMembers(list []membership.Remembered) error {
	return d.save(filepath.Join(d.path, membersName), "the list of members",
		membersOnDisk{Version: membersVersion, Members: list})
}

func decodeMembers(text []byte) ([]membership.Remembered, error) {
	var doc membersOnDisk
	if err := strictly(text, &doc); err != nil {
		return nil, err
	}
	if doc.Version != membersVersion {
		return nil, fmt.Errorf("it has version %d, this wanderd knows version %d", doc.Version, membersVersion)
	}
	for _, m := range doc.Members {
		if m.ID.IsZero() || !m.Addr.IsValid() {
			return nil, fmt.Errorf("member %q has no identity or no address", m.Name)
		}
	}
	return doc.Members, nil
}
