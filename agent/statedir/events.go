package statedir

import "path/filepath"

// LoadEvents reads the events that a receiver has still to get; nil if none were ever saved.
func (d *Dir) LoadEvents(receiver string) ([]byte, error) {
	text, _, err := d.load(d.eventsPath(receiver), "the events that wait")
	return text, err
}

// SaveEvents makes the events that a receiver has still to get durable before it returns. If it fails, the previous
// ones are kept.
func (d *Dir) SaveEvents(receiver string, events any) error {
	return d.save(d.eventsPath(receiver), "the events that wait", events)
}

func (d *Dir) eventsPath(receiver string) string {
	return filepath.Join(d.path, "events-"+receiver+".json")
}
