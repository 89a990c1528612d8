package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/wanderd/wanderd/smallfile"
)

// maxDocument bounds a document, in bytes.
const maxDocument = 256 << 10

// load reads a document; it returns false if there is none. what names it in errors.
func (d *Dir) load(path, what string) (text []byte, found bool, err error) {
	text, err = smallfile.Read(path, maxDocument)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case errors.Is(err, smallfile.ErrWrongKind), errors.Is(err, smallfile.ErrTooLong):
		return nil, false, fmt.Errorf("cannot read %s: %w; no agent has written that: remove it, or restore the file",
			what, err)
	case err != nil:
		return nil, false, d.explain("cannot read "+what, err)
	}
	return text, true, nil
}

// save makes a document durable before it returns. If it fails, the previous one is kept.
func (d *Dir) save(path, what string, document any) error {
	text, err := json.Marshal(document)
	if err == nil {
		err = d.replace(path, append(text, '\n'))
	}
	if err != nil {
		return d.explain("cannot save "+what, err)
	}
	return nil
}

// replace replaces the content of a file atomically: after a crash the file has either the old or the new content.
func (d *Dir) replace(path string, content []byte) error {
	tmp := path + tmpSuffix
	if err := writeSynced(tmp, os.O_TRUNC, content); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.self.Sync()
}
