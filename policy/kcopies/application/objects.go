package application

import (
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// Objects are a member's parts of the objects of all members, which "are in this way uniquely identified by S_q"
// (section 3.1), in ring order.
type Objects []kcopies.Machine

// NewObjects returns a member's parts of objects that no member has made yet.
func NewObjects(ring kcopies.Config) Objects {
	configs, parts := make([]kcopies.Config, len(ring.Ring)), make(Objects, len(ring.Ring))
	for q, id := range ring.Ring {
		configs[q] = ring
		configs[q].ID = wire.TokenID{Generator: id, Random: uint64(q) + 1}
		parts[q] = kcopies.NewObject(&configs[q])
	}
	return parts
}

// Of returns the member whose object a message carries; ok is false if the message carries none.
func (o Objects) Of(msg *wire.Message) (q kcopies.Site, ok bool) {
	for i := range o {
		if o[i].Config().ID == msg.Token.ID {
			return kcopies.Site(i), true
		}
	}
	return 0, false
}
