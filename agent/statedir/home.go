package statedir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/wanderd/wanderd/smallfile"
)

// homeName is the file that records where the directory was made.
const homeName = "home"

// home identifies a directory on a host. It cannot distinguish clones of a machine, or containers of an image.
type home struct {
	// Machine is a hash of the host's machine-id, which must not be shown to others (machine-id(5)); empty if it has
	// none.
	Machine string `json:"machine,omitempty"`
	// Path is the directory's path without symbolic links.
	Path string `json:"path"`
}

// Moved returns a warning with the remedy if the directory is not where it was made; empty if it is. If there is no
// record, Moved writes one, and this is the directory's home from now on.
func (d *Dir) Moved() (warning string, err error) {
	here, err := d.here(machineIDs())
	if err != nil {
		return "", err
	}
	file := filepath.Join(d.path, homeName)
	text, found, err := d.load(file, "where the state directory was made")
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", d.makeHome(here)
	}
	var made home
	if err := json.Unmarshal(text, &made); err != nil || made.Path == "" {
		return "", fmt.Errorf("%s is damaged: remove it to make this place the directory's home", file)
	}
	if made == here {
		return "", nil
	}
	from := made.Path
	if made.Machine != here.Machine {
		from += " of another host"
	}
	return fmt.Sprintf(
		"this state directory was made as %s, and was moved or copied to %s: to make that its home, remove %s. "+
			"If it was copied and an agent runs in the original, this one will stop", from, here.Path, file), nil
}

// here identifies the directory now. The host's name is in the first readable file of machineIDs.
func (d *Dir) here(machineIDs []string) (home, error) {
	path, err := filepath.EvalSymlinks(d.path)
	if err != nil {
		return home{}, d.explain("cannot find out where the state directory is", err)
	}
	for _, file := range machineIDs {
		if text, err := smallfile.Read(file, maxDocument); err == nil && len(bytes.TrimSpace(text)) > 0 {
			sum := sha256.Sum256(append([]byte("wanderd home "), bytes.TrimSpace(text)...))
			return home{Machine: hex.EncodeToString(sum[:16]), Path: path}, nil
		}
	}
	return home{Path: path}, nil
}

// machineIDs are the files that may contain the host's machine-id.
func machineIDs() []string { return []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} }

func (d *Dir) makeHome(here home) error {
	return d.save(filepath.Join(d.path, homeName), "where the state directory was made", here)
}
