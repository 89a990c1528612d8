package statedir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Member is the record of another member, with which an agent rejoins its fleet after a restart.
type Member struct {
	Name string
	ID   wire.MemberID
	Addr netip.AddrPort
	// Gone is when it left or failed; zero if it was live when the list was saved.
	Gone time.Time
	// Left says that it left on purpose.
	Left bool
}

const (
	membersName    = "members.json"
	membersVersion = 1
	// maxMembers bounds the file, in bytes.
	maxMembers = 256 << 10
)

// membersOnDisk is a list of members on disk.
type membersOnDisk struct {
	Version int            `json:"version"`
	Members []memberOnDisk `json:"members"`
}

type memberOnDisk struct {
	Name string    `json:"name"`
	ID   string    `json:"id"`
	Addr string    `json:"addr"`
	Gone time.Time `json:"gone,omitzero"`
	Left bool      `json:"left,omitempty"`
}

// LoadMembers reads the members of the fleet; found is false if none were ever saved. The error names the remedy.
func (d *Dir) LoadMembers() (list []Member, found bool, err error) {
	path := filepath.Join(d.path, membersName)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, d.explain("cannot read the list of members", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxMembers))
	if err != nil {
		return nil, false, d.explain("cannot read the list of members", err)
	}
	if list, err = decodeMembers(text); err != nil {
		return nil, false, fmt.Errorf("the list of members %s is damaged (%w): delete it; the agent then finds its fleet by --join only", path, err)
	}
	return list, true, nil
}

// SaveMembers makes the list durable before it returns. If it fails, the previous list is kept. It is safe to call beside other
// methods.
func (d *Dir) SaveMembers(list []Member) error {
	doc := membersOnDisk{Version: membersVersion, Members: make([]memberOnDisk, 0, len(list))}
	for _, m := range list {
		doc.Members = append(doc.Members, memberOnDisk{
			Name: m.Name, ID: m.ID.String(), Addr: m.Addr.String(), Gone: m.Gone.UTC().Truncate(time.Second), Left: m.Left,
		})
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("cannot save the list of members: %w", err)
	}
	if err := d.replace(filepath.Join(d.path, membersName), append(text, '\n')); err != nil {
		return d.explain("cannot save the list of members", err)
	}
	return nil
}

func decodeMembers(text []byte) ([]Member, error) {
	var doc membersOnDisk
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&doc); err != nil {
		return nil, err
	}
	if doc.Version != membersVersion {
		return nil, fmt.Errorf("it has version %d, this wanderd knows version %d", doc.Version, membersVersion)
	}
	list := make([]Member, 0, len(doc.Members))
	for _, m := range doc.Members {
		id, err := wire.ParseMemberID(m.ID)
		if err != nil {
			return nil, err
		}
		addr, err := netip.ParseAddrPort(m.Addr)
		if err != nil {
			return nil, err
		}
		list = append(list, Member{Name: m.Name, ID: id, Addr: addr, Gone: m.Gone, Left: m.Left})
	}
	return list, nil
}
