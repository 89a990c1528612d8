package ballot_test

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

func (w *world) traceStep(i int) {
	what := w.ev.Kind.String()
	if w.ev.Kind == policy.Received {
		what = fmt.Sprintf("%s from %d %s", w.descriptor.Kinds.Of(w.ev.Msg.Kind).Name, w.ev.Msg.From[15]-1,
			seqName(w.ev.Msg.Token.Seq))
	}
	h := &w.hosts[i]
	promised, end := h.g.Ballot().Lease()
	state := fmt.Sprintf("promised %v for %.3f", promised, float64(end-w.local(i))/1e9)
	if t := h.g.Ballot().Token(); t != nil {
		state += fmt.Sprintf(", holds %s for %.3f", seqName(t.Seq), float64(h.g.Ballot().Until()-w.local(i))/1e9)
	}
	w.tell("%d %s [%s] %v", i, what, state, h.g)
	for n := range w.out {
		switch e := &w.out[n]; e.Kind {
		case policy.Send:
			w.log("              %s to %d %s", w.descriptor.Kinds.Of(e.Msg.Kind).Name, e.Msg.To[15]-1,
				seqName(e.Msg.Token.Seq))
		case policy.Tell:
			w.log("              %s", w.descriptor.Notes.Of(e.Note).Name)
		case policy.PreSign, policy.Announce, policy.Proclaim:
		case policy.Save, policy.Run, policy.Extend, policy.Stop, policy.Took, policy.Gave, policy.Gone:
			w.log("              %v %s", e.Kind, seqName(e.Token.Seq))
		}
	}
}

func seqName(s wire.Seq) string {
	return fmt.Sprintf("%v/%d", ballot.EpochOf(s), uint64(s)-uint64(ballot.EpochOf(s)))
}
