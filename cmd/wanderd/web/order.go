package web

import (
	"encoding/json"
	"net/http"

	"github.com/wanderd/wanderd/agent/control"
)

const (
	pathOrder = "/order"
	// orderHeader carries the token that only this page has; orderTokenHere is its place in the page.
	orderHeader    = "X-Wanderd-Order"
	orderTokenHere = "{{order-token}}"
	// maxOrder bounds an order, in bytes.
	maxOrder = 4 << 10
)

// mayOrder reports whether a request comes from this page itself: only its script knows the token, only a script can
// set the header, and the browser reports the script's origin.
func (g *guard) mayOrder(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == pathOrder && g.hasCookie(r) &&
		sameOrigin(r.Header.Get("Origin"), r.Host) &&
		equal(r.Header.Get(orderHeader), g.orderToken)
}

// order gives the agent an order that concerns the whole fleet. A pause needs a reason, because others read it.
func (s *Server) order(w http.ResponseWriter, r *http.Request) {
	var call control.Order
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&call); err != nil || call.Here || call.Gate == "" || call.Pause && call.Reason == "" {
		http.Error(w, "an order names a gate, and a pause has a reason", http.StatusBadRequest)
		return
	}
	if err := s.hub.src.Order(r.Context(), call); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if all, err := s.hub.src.Fleet(r.Context()); err == nil { // viewers see at once what has changed
		s.hub.publishFleet(r.Context(), &all)
	}
}
