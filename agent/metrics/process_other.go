//go:build !linux

package metrics

// process writes nothing: the other systems have no /proc.
func (*page) process() {}
