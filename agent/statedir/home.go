package statedir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// homeName is the file that says where the directory was made.
const homeName = "home"

// home is a place in the world, as far as a host knows its own name. Clones of a machine and containers of an image may not.
type home struct {
	// Machine stands for the host's machine-id, which is not to be shown to others (machine-id(5)); empty if it has none.
	Machine string `json:"machine,omitempty"`
	// Path is the directory's.
	Path string `json:"path"`
}

// AtHome reports whether the directory is where it was made. If not, it was moved there, or copied: moved says from where to where, and what
// follows. Where nothing is written down, this is its home from now on.
func (d *Dir) AtHome() (atHome bool, moved string, err error) {
	here, err := d.here(machineIDs())
	if err != nil {
		return true, "", err
	}
	file := filepath.Join(d.path, homeName)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return true, "", d.makeHome(here)
	}
	if err != nil {
		return true, "", d.explain("cannot read where the state directory was made", err)
	}
	var made home
	if err := json.Unmarshal(text, &made); err != nil || made.Path == "" {
		return true, "", fmt.Errorf("%s is damaged: remove it, and this is the directory's home from now on", file)
	}
	if made == here {
		return true, "", nil
	}
	from := made.Path
	if made.Machine != here.Machine {
		from += " of another host"
	}
	return false, fmt.Sprintf("this state directory was made as %s, and is taken for moved to %s: to make that its home, remove %s. "+
		"If it was copied and an agent runs in the original, this one will stop", from, here.Path, file), nil
}

// here is where the directory is, on the host that one of the files names.
func (d *Dir) here(machineIDs []string) (home, error) {
	path, err := filepath.EvalSymlinks(d.path)
	if err != nil {
		return home{}, d.explain("cannot find out where the state directory is", err)
	}
	for _, file := range machineIDs {
		if text, err := os.ReadFile(file); err == nil && len(bytes.TrimSpace(text)) > 0 {
			sum := sha256.Sum256(append([]byte("wanderd home "), bytes.TrimSpace(text)...))
			return home{Machine: hex.EncodeToString(sum[:16]), Path: path}, nil
		}
	}
	return home{Path: path}, nil
}

// machineIDs are the files that may name the host.
func machineIDs() []string { return []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} }

func (d *Dir) makeHome(here home) error {
	text, err := json.Marshal(here)
	if err != nil {
		return err
	}
	if err := d.replace(filepath.Join(d.path, homeName), append(text, '\n')); err != nil {
		return d.explain("cannot write down where the state directory was made", err)
	}
	return nil
}
