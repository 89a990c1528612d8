package web

import (
	"encoding/json"
	"net/http"

	"github.com/wanderd/wanderd/agent/control"
)

const (
	pathDirective = "/order"
	// directiveHeader carries the token that only this page has; directiveTokenHere is its place in the page.
	directiveHeader    = "X-Wanderd-Order"
	directiveTokenHere = "{{order-token}}"
	// maxDirective bounds a directive, in bytes.
	maxDirective = 4 << 10
)

// mayGiveDirective reports whether a request comes from this page itself: only its script knows the token, only a
// script can set the header, and the browser reports the script's origin.
func (a *access) mayGiveDirective(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == pathDirective && a.hasCookie(r) &&
		sameOrigin(r.Header.Get("Origin"), r.Host) &&
		equal(r.Header.Get(directiveHeader), a.directiveToken)
}

// giveDirective gives the agent a directive that concerns the whole fleet. A pause needs a reason, because others read
// it.
func (s *Server) giveDirective(w http.ResponseWriter, r *http.Request) {
	var directive control.Directive
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxDirective))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&directive); err != nil || directive.Here || directive.Gate == "" ||
		directive.Pause && directive.Reason == "" {
		http.Error(w, "a directive names a gate, and a pause has a reason", http.StatusBadRequest)
		return
	}
	if err := s.hub.src.GiveDirective(r.Context(), directive); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if all, err := s.hub.src.Fleet(r.Context()); err == nil { // viewers see at once what has changed
		s.hub.publishFleet(r.Context(), &all)
	}
}
