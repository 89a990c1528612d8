package control

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/wanderd/wanderd/agent/history"
)

// Which chooses the runs of a history.
type Which struct {
	// Gate is empty for all gates.
	Gate string `json:"gate,omitempty"`
	// Failed leaves out the runs that did their work.
	Failed bool `json:"failed,omitempty"`
	// Since leaves out the runs that began before it.
	Since time.Time `json:"since,omitzero"`
}

// From returns the chosen runs of a history. It changes h.
func (w *Which) From(h History) History {
	h.Gates = slices.DeleteFunc(h.Gates, func(g GateHistory) bool { return w.Gate != "" && g.Name != w.Gate })
	for i := range h.Gates {
		h.Gates[i].Runs = slices.DeleteFunc(h.Gates[i].Runs, func(r history.Run) bool {
			return r.Start.Before(w.Since) || w.Failed && !r.Failed()
		})
	}
	return h
}

// query writes the choice as the query of a request, and readWhich reads it.
func (w *Which) query() string {
	return url.Values{
		"gate": {w.Gate}, "failed": {strconv.FormatBool(w.Failed)}, "since": {w.Since.Format(time.RFC3339Nano)},
	}.Encode()
}

func readWhich(query url.Values) (Which, error) {
	w := Which{Gate: query.Get("gate"), Failed: query.Get("failed") == "true"}
	text := query.Get("since")
	if text == "" {
		return w, nil
	}
	var err error
	if w.Since, err = time.Parse(time.RFC3339Nano, text); err != nil {
		return w, &badRequestError{"since: " + err.Error()}
	}
	return w, nil
}
