package agent

import (
	"fmt"

	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/wire"
)

// names says which key answers to a name of a roster that has none yet on this host.
type names interface {
	// keyOf returns the key of a name. called are the live members of the gate that call themselves so; none of them is another name's. If
	// there is no key, why says what is missing.
	keyOf(name string, called []*membership.Member) (id wire.MemberID, why string)
}

// firstSight binds a name to the first member that has it, as ssh(1) does with a host's key when nobody has told it another one. Two
// members with one name are none.
type firstSight struct{}

func (firstSight) keyOf(name string, called []*membership.Member) (id wire.MemberID, why string) {
	switch len(called) {
	case 0:
		return id, fmt.Sprintf("%s was never seen", name)
	case 1:
		return called[0].ID, ""
	}
	return id, fmt.Sprintf("two members are called %s: %s at %s and %s at %s; give one of them another name", name,
		called[0].ID.Short(), called[0].Addr, called[1].ID.Short(), called[1].Addr)
}
