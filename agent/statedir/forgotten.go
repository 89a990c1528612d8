package statedir

import (
	"fmt"
	"path/filepath"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

// Forgotten is the newest directive about a member; the member is forgotten if Until is not zero. Who has given it is
// empty if that is not known.
type Forgotten struct {
	Member wire.MemberID `json:"member"`
	Name   string        `json:"name"`
	wire.Directive
	Who string `json:"who,omitempty"`
}

const (
	forgottenName    = "forgotten.json"
	forgottenVersion = 1
)

type forgottenOnDisk struct {
	Version int         `json:"version"`
	Members []Forgotten `json:"members"`
}

// LoadForgotten reads the directives about members. The error names the remedy.
func (d *Dir) LoadForgotten() ([]Forgotten, error) {
	path := filepath.Join(d.path, forgottenName)
	text, found, err := d.load(path, "the list of forgotten members")
	if err != nil || !found {
		return nil, err
	}
	var doc forgottenOnDisk
	if err = strictly(text, &doc); err == nil && doc.Version != forgottenVersion {
		err = fmt.Errorf("it has version %d, this wanderd knows version %d", doc.Version, forgottenVersion)
	}
	for _, m := range doc.Members {
		if err == nil && (m.Member.IsZero() || m.Stamp == 0 || m.By.IsZero() || identity.CheckName(m.Name) != nil) {
			err = fmt.Errorf("member %q has no identity, no name, or nobody has forgotten it", m.Name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the list of forgotten members %s is damaged (%w): delete it; the other members give "+
			"it to this one again", path, err)
	}
	return doc.Members, nil
}

// SaveForgotten makes the list durable before it returns. If it fails, the previous list is kept.
func (d *Dir) SaveForgotten(list []Forgotten) error {
	return d.save(filepath.Join(d.path, forgottenName), "the list of forgotten members",
		forgottenOnDisk{Version: forgottenVersion, Members: list})
}
