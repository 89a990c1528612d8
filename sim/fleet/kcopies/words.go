package kcopies

import (
	"fmt"

	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/tell"
	"github.com/wanderd/wanderd/wire"
)

// Words returns the words of the stories of Le Lann, Martin and Misra: the token is T1, and a TOKEN message names its S_T.
func Words() tell.Words {
	return tell.Words{
		About: func(m *wire.Message) string {
			if m.Kind != kcopies.KindToken {
				return ""
			}
			st, _ := kcopies.Fields(&m.Load)
			if int(st) == sim.IndexOf(m.To) {
				return ""
			}
			return fmt.Sprintf("copy, S_T = %s", sim.MemberName(int(st)))
		},
	}
}
