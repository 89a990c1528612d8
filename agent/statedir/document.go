package statedir

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxDocument bounds a document, in bytes.
const maxDocument = 256 << 10

// load reads a document; it returns false if there is none. what names it in errors.
func (d *Dir) load(path, what string) (text []byte, found bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil {
		defer func() { _ = f.Close() }()
		text, err = io.ReadAll(io.LimitReader(f, maxDocument))
	}
	if err != nil {
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
