package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
)

// CheckRenewable returns why a gate cannot have a new token; nil if it can.
func (g *Gate) CheckRenewable() error {
	switch {
	case g.exit.leaving || g.isClosed():
		return g.refusal()
	case g.roster != nil:
		return fmt.Errorf("gate %q is strict: its members replace a lost token by themselves "+
			"as soon as a majority of the roster is there; see \"wanderd status\"", g.cfg.Name)
	}
	if _, can := g.machine.Machine.(policy.Renewable); !can {
		return fmt.Errorf("gate %q replaces a lost token by itself", g.cfg.Name)
	}
	return nil
}

// Renew makes a new token for each slot of whose token nobody knows.
func (g *Gate) Renew(elsewhere map[int]string, unsure string) (done control.Renewed, err error) {
	machine, slots := g.machine.Machine.(policy.Renewable), 1
	if several, ok := g.machine.Machine.(policy.Slotted); ok {
		slots = several.Slots()
	}
	var known []string
	for slot := range slots {
		switch here := machine.Knows(slot, g.env.Clock.Now().Time); {
		case here != "":
			known = append(known, "this host "+here)
		case elsewhere[slot] != "":
			known = append(known, elsewhere[slot])
		case unsure != "":
			known = append(known, unsure)
		default:
			g.log.Warn().Int("slot", slot).Msg("an operator asks for a new token")
			g.event.Kind, g.event.Slot = policy.Renew, uint8(slot)
			g.step()
			done.Slots = append(done.Slots, slot)
		}
	}
	if len(done.Slots) == 0 {
		slices.Sort(known)
		where := strings.Join(slices.Compact(known), "; ")
		return done, fmt.Errorf("gate %q has its token, or may have it: %s", g.cfg.Name, where)
	}
	done.Gate = g.cfg.Name
	return done, nil
}
