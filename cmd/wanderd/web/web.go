// Package web shows a fleet as a page in a browser. It is a client of one agent's control socket, and no part of the
// agent: while no browser shows the page, no member is asked.
//
//	GET /          the page; the first time with ?token=T, which the command has printed
//	GET /events    what happens, as server-sent events: tokens, fleet, history
//	GET /page.css, /page.js
//	POST /order    a [control.Directive]: pauses or resumes a gate
//
// The page shows the output of hooks, so only users who may use the control socket may see it. Other users of the host,
// other pages in the same browser, and names that are made to point at this host must not reach it: see access.
//
// Its decisions, in docs/decisions: 085.
package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

//go:embed static
var static embed.FS

// Source is the agent whose fleet is shown.
type Source interface {
	follow.Source
	FleetHistory(ctx context.Context, which control.Which) (control.FleetHistory, error)
	GiveDirective(ctx context.Context, directive control.Directive) error
}

// Server serves the page.
type Server struct {
	listener net.Listener
	http     *http.Server
	access   access
	hub      *hub
}

const (
	ioTimeout = 5 * time.Second
	maxHeader = 8 << 10
	// closeTimeout is how long Serve waits for answers in progress when it ends.
	closeTimeout = time.Second
)

// Listen binds the address, which must be of the loopback interface: the page is not encrypted.
func Listen(address string, src Source) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no address: say for example 127.0.0.1:8946", address)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil,
			fmt.Errorf("the page is served on the loopback interface only, not on %s, because it is not encrypted: "+
				"from another host use \"ssh -L 8946:127.0.0.1:8946\"", host)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", address, err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	s := &Server{
		listener: listener, access: newAccess(port), hub: &hub{src: src, viewers: make(map[chan struct{}]struct{})},
	}
	s.http = &http.Server{
		Handler: s.access.wrap(http.HandlerFunc(s.handle)), ReadHeaderTimeout: ioTimeout, ReadTimeout: ioTimeout,
		MaxHeaderBytes: maxHeader,
	}
	return s, nil
}

// URL returns the address to open; anybody who has it can see the page.
func (s *Server) URL() string {
	return fmt.Sprintf("http://%s/?token=%s", s.listener.Addr(), s.access.token)
}

// Serve serves the page until ctx is done.
func (s *Server) Serve(ctx context.Context) error {
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := s.http.Shutdown(shutdown); errors.Is(err, context.DeadlineExceeded) {
		return s.http.Close()
	}
	s.hub.working.Wait()
	return nil
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		s.file(w, r, "page.html", "text/html; charset=utf-8")
	case "/page.css":
		s.file(w, r, "page.css", "text/css; charset=utf-8")
	case "/page.js":
		s.file(w, r, "page.js", "text/javascript; charset=utf-8")
	case "/events":
		s.hub.serve(w, r)
	case pathDirective:
		s.giveDirective(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) file(w http.ResponseWriter, r *http.Request, name, kind string) {
	text, _ := static.ReadFile("static/" + name) // it is part of the program
	if name == "page.html" {
		text = bytes.ReplaceAll(text, []byte(directiveTokenHere), []byte(s.access.directiveToken))
	}
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// sameOrigin reports whether an Origin header names the host that was asked.
func sameOrigin(origin, host string) bool {
	return strings.TrimPrefix(origin, "http://") == host && origin != host
}
