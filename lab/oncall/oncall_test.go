//go:build linux

package main

import (
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/hosts"
)

// Whatever is lost, the next command runs. "make oncall" measures how soon.
func TestTheNextCommandRunsWhateverIsLost(t *testing.T) {
	deep.Only(t, "a fleet of processes that lose their token")
	const members = 7
	network, err := hosts.NewNetwork(members)
	if err != nil {
		t.Skip("needs root and network namespaces: ", err)
	}
	t.Cleanup(network.Close)
	program, err := hosts.Build(".", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDrill(hosts.Settings{Size: members, Program: program, Dir: t.TempDir(), Network: network})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	for _, l := range losses() {
		t.Run(l.name, func(t *testing.T) {
			if !l.waits && l.homes < bothHomes {
				deep.AtNight(t, "it takes as long where somebody waits")
			}
			if err := d.repeat(&l, 1); err != nil {
				t.Fatal(err)
			}
		})
	}
}
