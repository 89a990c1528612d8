//go:build unix && !linux

package early

import "errors"

// Program returns an error, because no guard for commands can be had here.
func Program() (string, error) {
	return "", errors.New("this system does not tell which processes a command has started: run it on Linux")
}
