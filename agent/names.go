package agent

import (
	"fmt"

	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/wire"
)

// keyOf returns the key that answers to a name of a roster for which this host has none yet: that of the first member that has the name, as
// ssh(1) takes the key of a host of which nobody has told it another one. called are the live members of the gate that call themselves so;
// with trust = known_hosts, these have a key that the file gives to the name. Two members with one name are none; why says what is missing.
func keyOf(name string, called []*membership.Member) (id wire.MemberID, why string) {
	switch len(called) {
	case 0:
		return id, fmt.Sprintf("%s was never seen", name)
	case 1:
		return called[0].ID, ""
	}
	return id, fmt.Sprintf("two members are called %s: %s at %s and %s at %s; give one of them another name", name,
		called[0].ID.Short(), called[0].Addr, called[1].ID.Short(), called[1].Addr)
}
