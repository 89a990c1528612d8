package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/membership/identity"
)

// Host supplies what a member reports of itself.
type Host interface {
	Status(ctx context.Context) (control.Status, error)
	History(ctx context.Context) (control.History, error)
}

// Answer answers a question of another member; nil means no answer. If the answer is not sealed, the output of failed
// runs is left out, because anybody on the way could read it.
func Answer(ctx context.Context, host Host, asked []byte, sealed bool) []byte {
	q, err := parseQuestion(asked)
	if err != nil {
		return nil
	}
	var document any
	switch q.Subject {
	case aboutStatus:
		var s control.Status
		s, err = host.Status(ctx)
		shortenStatus(&s, q.Most)
		document = s
	case aboutHistory:
		var h control.History
		h, err = host.History(ctx)
		h = q.Which.From(h)
		if !sealed {
			withoutOutput(&h)
		}
		shorten(&h, q.Most)
		document = h
	}
	if err != nil {
		return nil
	}
	text, err := json.Marshal(document)
	if err != nil || len(text) > q.Most {
		return nil
	}
	return text
}

func withoutOutput(h *control.History) {
	for i := range h.Gates {
		for k := range h.Gates[i].Runs {
			h.Gates[i].Runs[k].Output = nil
		}
	}
}

// shorten omits the oldest runs of a history until its document has at most most bytes. Each gate gets an equal part of
// the bytes.
func shorten(h *control.History, most int) {
	const frame = 256 // the names of a gate and of the fields
	for i := range h.Gates {
		g := &h.Gates[i]
		room := most/len(h.Gates) - frame - len(g.Name)
		first := len(g.Runs)
		for first > 0 {
			run, err := json.Marshal(&g.Runs[first-1])
			if room -= len(run) + 1; err != nil || room < 0 {
				break
			}
			first--
		}
		g.Runs, g.Omitted = g.Runs[first:], g.Omitted+first
	}
}

// shortenStatus omits, if the document has more than most bytes, what this member knows of tokens that others hold:
// first who waits for them, and who guards them; then those tokens, but the first of a gate in which it holds none.
func shortenStatus(s *control.Status, most int) {
	elsewhere := func(t control.Slot) bool { return !t.Holding }
	for _, shorter := range []func(tokens []control.Slot) []control.Slot{
		func(tokens []control.Slot) []control.Slot {
			for i := range tokens {
				if t := &tokens[i]; !t.Holding {
					t.Called, t.Guardians = nil, nil
				}
			}
			return tokens
		},
		func(tokens []control.Slot) []control.Slot {
			if here := slices.DeleteFunc(slices.Clone(tokens), elsewhere); len(here) > 0 {
				return here
			}
			return tokens[:min(1, len(tokens))]
		},
	} {
		if text, err := json.Marshal(s); err != nil || len(text) <= most {
			return
		}
		s.Gates = slices.Clone(s.Gates)
		for i := range s.Gates {
			g := &s.Gates[i]
			g.Tokens = shorter(slices.Clone(g.Tokens))
		}
	}
}

// parseStatus reads a member's answer about its status. A member may speak only for itself.
func parseStatus(b []byte, from *membership.Member) (*control.Status, error) {
	s, err := parse(b, func(s *control.Status) int { return len(s.Gates) })
	if err != nil {
		return nil, err
	}
	s.Name, s.Member = from.Name, from.ID.String()
	return s, nil
}

func parseHistory(b []byte, _ *membership.Member) (*control.History, error) {
	return parse(b, func(h *control.History) int { return len(h.Gates) })
}

// parse reads a document, and refuses one with more gates than an agent can have.
func parse[T any](b []byte, gates func(*T) int) (*T, error) {
	document := new(T)
	if err := json.Unmarshal(b, document); err != nil {
		return nil, errors.New("its answer is not understood: it may have another version")
	}
	if n := gates(document); n > identity.MaxGates+identity.MaxOnDemand {
		return nil, fmt.Errorf("it says that it has %d gates", n)
	}
	return document, nil
}
