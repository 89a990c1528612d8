package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A gate without a roster takes in whoever comes. Members of another protocol do not understand its messages: a token
// that is offered to them does not arrive, and they cannot say where one is. So each member declares its protocol, and
// a machine hears only of peers with the same one. Each part of such a gate has tokens of its own.

// mostProtocol is the highest number that declares a protocol: its number, and its version in the low byte. Hashes of
// rosters are above it.
const mostProtocol = 1<<16 - 1

// protocols are what the members of a gate have declared.
type protocols struct {
	// own is what this member declares; 0 if it is the hash of a roster, which is declared once that is known.
	own uint64
	// foreign describes the members of other protocols; empty if there are none. said is when the log last did.
	foreign string
	said    time.Time
}

// declaration is what a member of a gate without a roster declares.
func declaration(d *policy.Descriptor) uint64 { return uint64(d.ID)<<8 | uint64(d.Version) }

// DeclarationOf is what the members of a gate without a roster declare.
func DeclarationOf(c *Config) uint64 {
	d := c.Protocol.Descriptor()
	return declaration(&d)
}

// declaredName names what a member has declared.
func declaredName(what uint64) string {
	if what > mostProtocol {
		return "a roster"
	}
	return fmt.Sprintf("%s, version %d", policy.ProtocolName(uint8(what>>8)), uint8(what))
}

// peers returns the members of the gate for its machine, and notes those of other protocols.
func (p *protocols) peers(env *Env, gate wire.GateID, log *zerolog.Logger) (ids []wire.MemberID, tokenKnown bool) {
	ids, tokenKnown, others := env.Fleet.Peers(gate, p.own)
	before := p.foreign
	p.foreign = foreignTrouble(p.own, others)
	switch now := time.Now(); {
	case p.foreign == before:
	case p.foreign == "":
		log.Info().Msg("all members have the protocol of this host again")
	case before == "" || now.Sub(p.said) >= sayAgain:
		p.said = now
		log.Warn().Msg(p.foreign)
	}
	return ids, tokenKnown
}

// mostForeign is how many members of other protocols are named.
const mostForeign = 4

// foreignTrouble describes the members of other protocols; empty if there are none.
func foreignTrouble(own uint64, others []Peer) string {
	if len(others) == 0 {
		return ""
	}
	var who, protocols []string
	for i := range others {
		p := &others[i]
		if i < mostForeign {
			who = append(who, fmt.Sprintf("%s at %s", p.Name, p.Addr))
		}
		if name := declaredName(p.Declared); !slices.Contains(protocols, name) {
			protocols = append(protocols, name)
		}
	}
	if more := len(others) - len(who); more > 0 {
		who = append(who, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("two protocols in one gate: %s on this host, and %s on others (%s). Each part has a token of "+
		"its own, so two hosts may run at once: set the same policy on all hosts", declaredName(own),
		strings.Join(protocols, " or "), strings.Join(who, ", "))
}
