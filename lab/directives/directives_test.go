//go:build linux

package main

import (
	"path/filepath"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/hosts"
)

// A pause reaches all members over a network that loses packets; then no run begins. "make directives" gives more
// directives, to more members, and some members are away.
func TestAPauseOverANetworkWithLoss(t *testing.T) {
	deep.Only(t, "a fleet of processes over a network with loss")
	const members, pauses, lost = 5, 5, 50
	network, err := hosts.NewNetwork(members)
	if err != nil {
		t.Skip("needs root and network namespaces: ", err)
	}
	t.Cleanup(network.Close)
	dir := t.TempDir()
	program, err := hosts.Build(".", dir)
	if err != nil {
		t.Fatal(err)
	}
	s := hosts.Settings{Size: members, Program: program, Network: network, Dir: filepath.Join(dir, "fleet")}
	if err := inWorld(s, busy, t.Logf, func(w *world) error {
		w.patient = true
		return w.pauses(pauses, lost)
	}); err != nil {
		t.Error(err)
	}
}
