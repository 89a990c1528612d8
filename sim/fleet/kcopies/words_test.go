package kcopies_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/misra"
	"github.com/wanderd/wanderd/policy/kcopies/transpeer"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/trace"
	"github.com/wanderd/wanderd/wire"
)

// words returns the words of a ring's traces: the token is T1, and the copies of a TOKEN message name its S_T. carries
// describes the data of the application; it returns nil if there is nothing to describe.
func words(carries func(*kcopies.Data) string) trace.Words {
	return trace.Words{
		About: func(m *wire.Message) string {
			switch {
			case m.Kind == kcopies.KindToken:
			case m.Token.ID.IsZero() && m.Token.Seq > 0: // A transaction has a number; work has none.
				return fmt.Sprint(uint64(m.Token.Seq))
			default:
				return ""
			}
			var said []string
			st, data := kcopies.Fields(&m.Load)
			if carries != nil {
				said = append(said, carries(data))
			}
			if int(st) != sim.IndexOf(m.To) {
				said = append(said, "copy, S_T = "+sim.MemberName(int(st)))
			}
			return strings.Join(said, ", ")
		},
	}
}

// performed returns how many transactions are in the history of TranspeerToken's token.
func performed(d *kcopies.Data) string {
	return fmt.Sprintf("%d performed", (*transpeer.History)(d).Len())
}

// claimed returns for whom an election's claim is: S_claim in two bytes, and in one byte whether it is the leader.
func claimed(d *kcopies.Data) string {
	said := fmt.Sprintf("S_claim = S%d", binary.BigEndian.Uint16(d[:]))
	if d[2] != 0 {
		said += " elected"
	}
	return said
}

// passiveCount describes what Misra's token carries.
func passiveCount(d *kcopies.Data) string {
	return fmt.Sprintf("passive_count = %d", misra.PassiveCount(d))
}
