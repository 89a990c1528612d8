package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/connlimit"
)

// Source supplies the answers. Its methods must be safe for concurrent use, and return when ctx is done.
type Source interface {
	Status(ctx context.Context) (Status, error)
	Members(ctx context.Context) (Members, error)
	History(ctx context.Context) (History, error)
	// Now, Fleet and FleetHistory ask other members.
	Now(ctx context.Context) (Now, error)
	Fleet(ctx context.Context) (Fleet, error)
	FleetHistory(ctx context.Context, which Which) (FleetHistory, error)
	// Drain makes the agent stop when what runs has ended. It does not wait for that.
	Drain(ctx context.Context) error
	// Reload makes the agent read its configuration again, and says what has changed.
	Reload(ctx context.Context) (Reloaded, error)
	// Order gives an order to a gate.
	Order(ctx context.Context, call Order) error
	// RunNow lets the hook of a gate run, once this host has said that it needs the run. If it is to wait, it returns when the run has ended; when ctx is done, the run goes on.
	RunNow(ctx context.Context, call RunNow) (RunEnd, error)
	// Metrics answers with the metrics.
	Metrics() http.Handler
	// Exec carries a call from its waiting to the end of its run, and ends when the caller goes. What the caller says is read from conn,
	// and what it is told is written there. The error may be a [Refusal].
	Exec(call Call, conn io.ReadWriter) error
}

// The paths that are served.
const (
	pathStatus       = "/v1/status"
	pathMembers      = "/v1/members"
	pathHistory      = "/v1/history"
	pathNow          = "/v1/now"
	pathFleet        = "/v1/fleet"
	pathFleetHistory = "/v1/fleet/history"
	pathMetrics      = "/metrics"
	pathOrder        = "/v1/order"
	pathRun          = "/v1/run"
	pathDrain        = "/v1/drain"
	pathReload       = "/v1/reload"
	pathExec         = "/v1/exec"
)

const (
	// sourceTimeout is how long an agent may take to make an answer.
	sourceTimeout = 5 * time.Second
	// ioTimeout bounds the reading of a request; sending the answer may take as long, in addition to sourceTimeout.
	ioTimeout   = 5 * time.Second
	idleTimeout = 30 * time.Second
	maxHeader   = 8 << 10
	// maxConnections bounds the connections, without those of callers, which the agent bounds.
	maxConnections = 256
	// closeTimeout is how long Close waits for answers and calls in progress.
	closeTimeout = time.Second
)

// Server answers requests on a unix socket until it is closed.
type Server struct {
	socket *socket
	http   *http.Server
	source Source
	log    zerolog.Logger
	served chan struct{}
	close  func() error
	// calls are those that it carries.
	calls sync.WaitGroup
}

// Serve makes a socket at path with mode 0600 and answers on it; if a group is named, with that group and mode 0660. It replaces the
// socket of a dead agent. It is an error if a live agent uses the path, or if the path is too long for a socket or names another kind
// of file.
func Serve(path, group string, src Source, logger zerolog.Logger) (*Server, error) {
	socket, err := listen(path, group)
	if err != nil {
		return nil, err
	}
	s := &Server{
		socket: socket, source: src, log: logger,
		http: &http.Server{
			ConnContext:       withConn,
			ReadHeaderTimeout: ioTimeout,
			ReadTimeout:       ioTimeout,
			WriteTimeout:      sourceTimeout + ioTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeader,
			ErrorLog:          log.New(lineWriter{logger}, "", 0),
		},
		served: make(chan struct{}),
	}
	s.http.Handler = http.HandlerFunc(s.handle)
	connlimit.Bound(s.http, maxConnections)
	s.close = sync.OnceValue(s.shutdown)
	go func() {
		defer close(s.served)
		if err := s.http.Serve(socket); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			logger.Error().Err(err).Msg("the control socket failed; status and members no longer answer: restart the agent")
		}
	}()
	return s, nil
}

// Close stops the server and removes the socket's file. It may be called again. A call ends when the source ends it, not before.
func (s *Server) Close() error { return s.close() }

func (s *Server) shutdown() error {
	// The file is removed first, so that no client finds a socket on which nobody listens.
	removeErr := s.socket.remove()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-s.served
	told := make(chan struct{})
	go func() {
		s.calls.Wait()
		close(told)
	}()
	select {
	case <-told:
	case <-ctx.Done():
	}
	return errors.Join(removeErr, err)
}

// failure is the document of an error.
type failure struct {
	Error string   `json:"error"`
	Paths []string `json:"paths,omitempty"`
}

// handle routes by itself, because http.ServeMux does not answer a wrong path or method with JSON.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	peer, known := peerOf(r.Context())
	switch {
	case !known: // the mode of the socket's file says who may connect
	case !s.socket.admits(peer):
		answer(w, s.log, http.StatusForbidden, failure{Error: "run this as the agent's user, as a member of its socket_group, or as root"})
		return
	case !owns(peer) && slices.Contains([]string{pathDrain, pathReload, pathOrder, pathRun, pathHistory, pathFleetHistory}, r.URL.Path): // histories have the output of hooks
		answer(w, s.log, http.StatusForbidden, failure{Error: "run this as the agent's user or as root"})
		return
	}
	paths := []string{pathMetrics, pathDrain, pathExec, pathFleet, pathFleetHistory, pathHistory, pathMembers, pathNow, pathOrder, pathReload, pathRun, pathStatus}
	ask, ok := map[string]func(context.Context) (any, error){
		pathStatus:  func(ctx context.Context) (any, error) { return s.source.Status(ctx) },
		pathMembers: func(ctx context.Context) (any, error) { return members(ctx, s.source) },
		pathHistory: func(ctx context.Context) (any, error) { return s.source.History(ctx) },
		pathNow:     func(ctx context.Context) (any, error) { return s.source.Now(ctx) },
		pathFleet:   func(ctx context.Context) (any, error) { return s.source.Fleet(ctx) },
		pathFleetHistory: func(ctx context.Context) (any, error) {
			which, err := readWhich(r.URL.Query())
			if err != nil {
				return nil, err
			}
			return s.source.FleetHistory(ctx, which)
		},
	}[r.URL.Path]
	switch {
	case r.URL.Path == pathExec && r.Method == http.MethodPost:
		s.serveExec(w, r, peer)
		return
	case r.URL.Path == pathDrain && r.Method == http.MethodPost:
		ask = func(ctx context.Context) (any, error) { return struct{}{}, s.source.Drain(ctx) }
	case r.URL.Path == pathReload && r.Method == http.MethodPost:
		ask = func(ctx context.Context) (any, error) { return s.source.Reload(ctx) }
	case r.URL.Path == pathOrder && r.Method == http.MethodPost:
		order, err := readOrder(http.MaxBytesReader(w, r.Body, maxCall), peer)
		if err != nil {
			answer(w, s.log, http.StatusBadRequest, failure{Error: err.Error()})
			return
		}
		ask = func(ctx context.Context) (any, error) { return struct{}{}, s.source.Order(ctx, order) }
	case r.URL.Path == pathRun && r.Method == http.MethodPost:
		s.serveRun(w, r, peer)
		return
	case slices.Contains([]string{pathExec, pathDrain, pathReload, pathOrder, pathRun}, r.URL.Path):
		w.Header().Set("Allow", "POST")
		answer(w, s.log, http.StatusMethodNotAllowed, failure{Error: "this path does something: use POST"})
		return
	case r.URL.Path == pathMetrics && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		s.source.Metrics().ServeHTTP(w, r)
		return
	case !ok && r.URL.Path != pathMetrics:
		answer(w, s.log, http.StatusNotFound, failure{
			Error: fmt.Sprintf("no such path: %s", r.URL.Path), Paths: paths,
		})
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		answer(w, s.log, http.StatusMethodNotAllowed, failure{Error: "this path is read-only: use GET"})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), sourceTimeout)
	defer cancel()
	document, err := ask(ctx)
	if err != nil {
		answer(w, s.log, http.StatusServiceUnavailable, failure{Error: err.Error()})
		return
	}
	answer(w, s.log, http.StatusOK, document)
}

// members writes an empty list as [], never as null.
func members(ctx context.Context, src Source) (Members, error) {
	document, err := src.Members(ctx)
	list := make([]Member, len(document.Members))
	for i, m := range document.Members {
		if m.Gates == nil {
			m.Gates = []string{}
		}
		list[i] = m
	}
	return Members{Members: list}, err
}

func answer(w http.ResponseWriter, logger zerolog.Logger, status int, document any) {
	body, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		logger.Error().Err(err).Msg("cannot encode an answer of the control socket")
		http.Error(w, `{"error": "internal error"}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that has closed needs no answer
}

// lineWriter writes the errors of net/http to the agent's log.
type lineWriter struct{ log zerolog.Logger }

func (l lineWriter) Write(p []byte) (int, error) {
	l.log.Warn().Bytes("text", p).Msg("control socket")
	return len(p), nil
}
