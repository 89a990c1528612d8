// Package fleetlock lets programs that reboot their host ask the fleet first, with the FleetLock protocol of Zincati.
// There is no lock server: each agent answers the clients of its own host, and the fleet's token says whose turn it is.
//
//	POST /v1/pre-reboot     200 when this host may reboot; its grant is kept until it is back
//	POST /v1/steady-state   200 when this host holds no such grant, or hands it back
//
// The rules are in the protocol's description; what real clients do beyond it:
//
//   - "Every other code is considered as a failed operation", but Zincati takes any 2xx for a yes. So nothing is
//     refused with one.
//   - Zincati waits up to 30 minutes for an answer, and asks again after five minutes or more. So a request is held
//     until the host has its turn. The wait ends when the client goes.
//   - A client says steady-state at each start, also if its host has not rebooted.
//   - Some clients expect JSON in every answer.
//
// "Semaphore locks are owned": the first client that asks is the client of this host, and others are refused. Everybody
// on this host may ask, as at a lock server.
//
// Its decisions, in docs/decisions: 098.
package fleetlock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// mostRequests is how many requests are served at once; a further one is refused.
	mostRequests = 8
	// mostConnections is how many clients may be connected; a further one is closed.
	mostConnections = 32
	// mostHeader and mostBody bound a request, in bytes; mostID is the longest name of a client.
	mostHeader, mostBody, mostID = 8 << 10, 4 << 10, 256
	// ioTimeout is how long a client may take to send its request, or to read its answer.
	ioTimeout = 5 * time.Second
	// steadyTimeout is how long the end of a grant may take.
	steadyTimeout = 30 * time.Second
)

// Host is the host whose reboots are asked for. Its methods may be called from any goroutine.
type Host interface {
	// PreReboot returns nil when this host may reboot. Until then it waits, as long as ctx is not done.
	PreReboot(ctx context.Context, client string) error
	// SteadyState ends the grant of a client, if it has one.
	SteadyState(ctx context.Context, client string) error
}

// Server answers the clients of one host.
type Server struct {
	http   *http.Server
	served chan error
	host   Host
	group  string
	log    zerolog.Logger
	slots  chan struct{}

	mu sync.Mutex
	// client is the first client that has asked; empty if none has.
	client string
	// connections counts those that are open.
	connections int
}

// groups are the names that a group may have.
var groups = regexp.MustCompile(`^[a-zA-Z0-9.-]+$`)

// CheckGroup returns an error if no client can be in a group of that name.
func CheckGroup(group string) error {
	if !groups.MatchString(group) {
		return fmt.Errorf("%q cannot be the group of a client: use a-z, A-Z, 0-9, '.' and '-'", group)
	}
	return nil
}

// CheckAddress returns an error if the address is not one of the loopback interface.
func CheckAddress(address string) error {
	at, err := netip.ParseAddrPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no address with a port: write it as in 127.0.0.1:9090", address)
	case !at.Addr().IsLoopback():
		return fmt.Errorf("%s is not of the loopback interface: each host asks its own agent, as in 127.0.0.1:9090", at)
	}
	return nil
}

// Serve answers the clients of a group at an address until Close. The error names the remedy.
func Serve(address, group string, host Host, log zerolog.Logger) (*Server, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot serve FleetLock at %s: %w; choose another address with fleetlock", address, err)
	}
	s := &Server{
		served: make(chan error, 1), host: host, group: group, log: log, slots: make(chan struct{}, mostRequests),
	}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.handle), ReadTimeout: ioTimeout, IdleTimeout: ioTimeout, MaxHeaderBytes: mostHeader,
		ConnState: s.count,
	}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// Close ends the server. Requests that wait are not answered, and their clients ask again.
func (s *Server) Close() error {
	err := s.http.Close()
	if serveErr := <-s.served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

// count closes the connections that are too many. The oldest one stays: it may be that of a client that waits.
func (s *Server) count(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		if s.connections++; s.connections > mostConnections {
			_ = conn.Close()
		}
	case http.StateClosed:
		s.connections--
	case http.StateActive, http.StateIdle, http.StateHijacked:
	}
}

// answer is the body of an answer: "Error values carry a type-identifier and a textual description". The kinds are few,
// because clients count them: "possible values for kind have a bounded/small cardinality".
type answer struct {
	status int
	Kind   string `json:"kind"`
	Value  string `json:"value"`
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	a := s.answer(w, r)
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(ioTimeout))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a) // A client that has gone needs no answer.
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) answer {
	ask, grants := s.host.PreReboot, "this host may reboot"
	switch r.URL.Path {
	case "/v1/pre-reboot":
	case "/v1/steady-state":
		ask, grants = s.steady, "this host holds no grant"
	default:
		return answer{http.StatusNotFound, "no_such_path", "there are /v1/pre-reboot and /v1/steady-state"}
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		return answer{
			http.StatusTooManyRequests, "too_many_requests",
			fmt.Sprintf("%d requests are under way: ask again later", mostRequests),
		}
	}
	client, refusal := s.read(w, r)
	if refusal.status != 0 {
		return refusal
	}
	if err := ask(r.Context(), client); err != nil {
		s.log.Info().Err(err).Str("client", client).Str("path", r.URL.Path).Msg("FleetLock: not granted")
		return answer{http.StatusServiceUnavailable, "not_granted", err.Error()}
	}
	s.log.Info().Str("client", client).Str("path", r.URL.Path).Msg("FleetLock: granted")
	return answer{http.StatusOK, "granted", grants}
}

func (s *Server) steady(ctx context.Context, client string) error {
	ctx, cancel := context.WithTimeout(ctx, steadyTimeout)
	defer cancel()
	return s.host.SteadyState(ctx, client)
}

// body is the body of a request.
type body struct {
	Params struct {
		ID    string `json:"id"`
		Group string `json:"group"`
	} `json:"client_params"`
}

// read returns the client of a request, or why it is refused.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (client string, refusal answer) {
	no := func(status int, kind, value string) (string, answer) { return "", answer{status, kind, value} }
	// "Locking and unlocking requests must contain a fleet-lock-protocol header with a fixed value of true to ensure
	// that the actual request was directly intended and not a part of unintentional redirection."
	switch {
	case r.Method != http.MethodPost:
		return no(http.StatusMethodNotAllowed, "bad_request", "send it with POST")
	case r.Header.Get("fleet-lock-protocol") != "true":
		return no(http.StatusBadRequest, "bad_request", "the header fleet-lock-protocol: true is missing")
	case r.Header.Get("Origin") != "":
		return no(http.StatusForbidden, "bad_request", "it comes from a page in a browser")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	var b body
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	p := &b.Params
	switch {
	case err != nil:
		return no(http.StatusBadRequest, "bad_request", "the body is not the JSON of the protocol: "+err.Error())
	case p.ID == "" || len(p.ID) > mostID:
		return no(http.StatusBadRequest, "bad_request",
			fmt.Sprintf("client_params.id has %d bytes: 1 to %d", len(p.ID), mostID))
	case CheckGroup(p.Group) != nil:
		return no(http.StatusBadRequest, "bad_request", "client_params.group does not match "+groups.String())
	case p.Group != s.group:
		return no(http.StatusForbidden, "other_group",
			fmt.Sprintf("this agent serves the group %q: set it in the client, or fleetlock_group in the gate",
				s.group))
	case !s.isClient(p.ID):
		return no(http.StatusForbidden, "other_client",
			"another client of this host has asked before: each host has one, and asks its own agent; restart the "+
				"agent if the client has got another id")
	}
	// The request has been read. From now on, the connection's end is the only sign that the client has gone.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return p.ID, answer{}
}

// isClient reports whether a client is the one of this host.
func (s *Server) isClient(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == "" {
		s.client = id
	}
	return s.client == id
}
