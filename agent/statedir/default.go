package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// DefaultDir returns the default state directory: the one that systemd has made (StateDirectory=), or else
// /var/lib/wanderd for root, or else wanderd in the user's state directory (XDG Base Directory Specification), by
// default ~/.local/state.
func DefaultDir() (string, error) { return defaultDir(os.Getenv, os.Geteuid(), os.UserHomeDir) }

func defaultDir(getenv func(string) string, uid int, home func() (string, error)) (string, error) {
	// systemd.exec(5): "In case of multiple directories, they are separated by colon".
	if first, _, _ := strings.Cut(getenv("STATE_DIRECTORY"), ":"); first != "" {
		return first, nil
	}
	if uid == 0 {
		return "/var/lib/wanderd", nil
	}
	// "All paths set in these environment variables must be absolute. If an implementation encounters a relative path
	// in any of these variables it should consider the path invalid and ignore it." (XDG Base Directory Specification)
	if xdg := getenv("XDG_STATE_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "wanderd"), nil
	}
	dir, err := home()
	if err != nil || !filepath.IsAbs(dir) {
		return "", errors.New("this user has no home directory for the state: choose a directory with --state-dir")
	}
	return filepath.Join(dir, ".local", "state", "wanderd"), nil
}
