package sim

import "github.com/wanderd/wanderd/policy/marks"

// Listen returns a watcher that breaks no rule: the machines of its world mark their rare branches in the set.
func Listen(to *marks.Set) Watcher { return &listener{to} }

type listener struct{ to *marks.Set }

// Watch does nothing: the machines themselves hit the set.
func (*listener) Watch(*Cluster, *Occurrence) error { return nil }

// listenerOf returns the set of the watcher that listens, nil if there is none.
func listenerOf(watchers []Watcher) *marks.Set {
	for _, w := range watchers {
		if l, ok := w.(*listener); ok {
			return l.to
		}
	}
	return nil
}
