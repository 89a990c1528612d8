package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/connlimit"
)

// Source supplies the answers: most of its methods do what the methods of [Client] ask for. They must be safe for
// concurrent use, and return when ctx is done.
type Source interface {
	Status(ctx context.Context) (Status, error)
	Members(ctx context.Context) (Members, error)
	History(ctx context.Context) (History, error)
	Now(ctx context.Context) (Now, error)
	Fleet(ctx context.Context) (Fleet, error)
	FleetHistory(ctx context.Context, which Which) (FleetHistory, error)
	Drain(ctx context.Context) error
	Reload(ctx context.Context) (Reloaded, error)
	GiveDirective(ctx context.Context, directive Directive) error
	RunNow(ctx context.Context, run RunNow) (RunEnd, error)
	Renew(ctx context.Context, renew Renew) (Renewed, error)
	Forget(ctx context.Context, forget Forget) (Forgot, error)
	Keep(ctx context.Context, keep Keep) error
	Metrics() http.Handler
	// Exec serves a caller from its wait to the end of its run, and ends when the caller goes. It reads the caller's
	// messages from conn, and writes its own there. The error may be a [Refusal].
	Exec(asks ExecRequest, conn io.ReadWriter) error
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
	pathDirective    = "/v1/order"
	pathRun          = "/v1/run"
	pathRenew        = "/v1/renew"
	pathForget       = "/v1/forget"
	pathKeep         = "/v1/keep"
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
	// maxConnections bounds the connections, except those of callers, which the agent bounds.
	maxConnections = 256
	// closeTimeout is how long Close waits for answers and callers in progress.
	closeTimeout = time.Second
)

// Server answers requests on a unix socket until it is closed.
type Server struct {
	socket *socket
	http   *http.Server
	source Source
	log    zerolog.Logger
	close  func() error
	// serving waits for the goroutine that accepts connections, execs for the callers that it has accepted.
	serving, execs sync.WaitGroup
}

// Serve makes a socket at path with mode 0600 and answers on it; if a group is named, with that group and mode 0660. It
// replaces the socket of a dead agent. It is an error if a live agent uses the path, or if the path is too long for a
// socket or names another kind of file.
func Serve(path, group string, src Source, logger zerolog.Logger) (io.Closer, error) {
	socket, err := listen(path, group)
	if err != nil {
		return nil, err
	}
	s := &Server{
		socket: socket, source: src, log: logger,
		http: &http.Server{
			ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
				return context.WithValue(ctx, connKey{}, conn)
			},
			ReadHeaderTimeout: ioTimeout,
			ReadTimeout:       ioTimeout,
			WriteTimeout:      sourceTimeout + ioTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeader,
			ErrorLog:          log.New(lineWriter{logger}, "", 0),
		},
	}
	s.http.Handler = http.HandlerFunc(s.handle)
	connlimit.Bound(s.http, maxConnections)
	s.close = sync.OnceValue(s.shutdown)
	s.serving.Go(func() {
		if err := s.http.Serve(socket); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			logger.Error().Err(err).
				Msg("the control socket failed; status and members no longer answer: restart the agent")
		}
	})
	return s, nil
}

// Close stops the server and removes the socket's file. It may be called again. A caller's connection ends when the
// source ends it, not before.
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
	s.serving.Wait()
	told := make(chan struct{})
	go func() {
		s.execs.Wait()
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

// route is how requests for a path are answered.
type route struct {
	// post is true if the request changes something; own, if only the agent's user and root may make it. The answer may
	// take long if patient is true.
	post, own, patient bool
	// ask makes the document of the answer. serve, if set, writes the answer itself.
	ask   func(context.Context, *http.Request, peer) (any, error)
	serve func(http.ResponseWriter, *http.Request, peer)
}

// plain makes the ask of a path whose requests carry nothing else.
func plain[T any](ask func(context.Context) (T, error)) func(context.Context, *http.Request, peer) (any, error) {
	return func(ctx context.Context, _ *http.Request, _ peer) (any, error) { return ask(ctx) }
}

// routes returns all paths. Histories have the output of hooks, so not everybody may read them.
func (s *Server) routes() map[string]route {
	src := s.source
	return map[string]route{
		pathStatus:  {ask: plain(src.Status)},
		pathMembers: {ask: plain(src.Members)},
		pathNow:     {ask: plain(src.Now)},
		pathFleet:   {ask: plain(src.Fleet)},
		pathHistory: {own: true, ask: plain(src.History)},
		pathFleetHistory: {own: true, ask: func(ctx context.Context, r *http.Request, _ peer) (any, error) {
			which, err := readWhich(r.URL.Query())
			if err != nil {
				return nil, err
			}
			return src.FleetHistory(ctx, which)
		}},
		pathMetrics: {serve: func(w http.ResponseWriter, r *http.Request, _ peer) { src.Metrics().ServeHTTP(w, r) }},
		pathExec:    {post: true, serve: s.serveExec},
		pathReload:  {post: true, own: true, ask: plain(src.Reload)},
		pathDrain: {post: true, own: true, ask: plain(func(ctx context.Context) (struct{}, error) {
			return struct{}{}, src.Drain(ctx)
		})},
		pathDirective: {post: true, own: true, ask: func(ctx context.Context, r *http.Request, p peer) (any, error) {
			directive := Directive{User: userName(p.user)}
			strict := json.NewDecoder(r.Body)
			strict.DisallowUnknownFields()
			switch err := strict.Decode(&directive); {
			case err != nil:
				return nil, &badRequestError{"a directive is a document of at most 4 KiB: " + err.Error()}
			case directive.For < 0:
				return nil, &badRequestError{"a directive cannot end in the past"}
			}
			return struct{}{}, src.GiveDirective(ctx, directive)
		}},
		pathRenew: {post: true, own: true, ask: func(ctx context.Context, r *http.Request, _ peer) (any, error) {
			var renew Renew
			if err := json.NewDecoder(r.Body).Decode(&renew); err != nil {
				return nil, &badRequestError{"a request for a new token is a document of at most 4 KiB"}
			}
			return src.Renew(ctx, renew)
		}},
		pathForget: {post: true, own: true, ask: func(ctx context.Context, r *http.Request, p peer) (any, error) {
			forget := Forget{User: userName(p.user)}
			if err := json.NewDecoder(r.Body).Decode(&forget); err != nil {
				return nil, &badRequestError{"a request to forget a member is a document of at most 4 KiB"}
			}
			return src.Forget(ctx, forget)
		}},
		pathKeep: {post: true, patient: true, ask: func(ctx context.Context, r *http.Request, _ peer) (any, error) {
			var keep Keep
			if err := json.NewDecoder(r.Body).Decode(&keep); err != nil {
				return nil, &badRequestError{"a request to keep a grant is a document of at most 4 KiB"}
			}
			return struct{}{}, src.Keep(ctx, keep)
		}},
		pathRun: {
			post: true, own: true, patient: true,
			ask: func(ctx context.Context, r *http.Request, p peer) (any, error) {
				var run RunNow
				if err := json.NewDecoder(r.Body).Decode(&run); err != nil {
					return nil, &badRequestError{"a request for a run is a document of at most 4 KiB"}
				}
				run.PID, run.User = p.pid, userName(p.user)
				return src.RunNow(ctx, run)
			},
		},
	}
}

type badRequestError struct{ text string }

func (e *badRequestError) Error() string { return e.text }

// handle finds the route itself, because http.ServeMux does not answer a wrong path or method with JSON.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	peer, known := peerOf(r.Context())
	routes := s.routes()
	route, exists := routes[r.URL.Path]
	switch {
	case known && !s.socket.admits(peer): // otherwise the mode of the socket's file decides who may connect
		s.answer(w, http.StatusForbidden, failure{
			Error: "run this as the agent's user, as a member of its socket_group, or as root",
		})
		return
	case known && route.own && !owns(peer):
		s.answer(w, http.StatusForbidden, failure{Error: "run this as the agent's user or as root"})
		return
	case !exists:
		s.answer(w, http.StatusNotFound, failure{
			Error: "no such path: " + r.URL.Path, Paths: slices.Sorted(maps.Keys(routes)),
		})
		return
	case route.post && r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		s.answer(w, http.StatusMethodNotAllowed, failure{Error: "this path does something: use POST"})
		return
	case !route.post && r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		s.answer(w, http.StatusMethodNotAllowed, failure{Error: "this path is read-only: use GET"})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	if route.serve != nil {
		route.serve(w, r, peer)
		return
	}
	ctx := r.Context()
	if route.patient {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // net/http's connections have deadlines
	} else {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sourceTimeout)
		defer cancel()
	}
	document, err := route.ask(ctx, r, peer)
	_, bad := errors.AsType[*badRequestError](err)
	switch {
	case bad:
		s.answer(w, http.StatusBadRequest, failure{Error: err.Error()})
	case err != nil:
		s.answer(w, http.StatusServiceUnavailable, failure{Error: err.Error()})
	default:
		s.answer(w, http.StatusOK, document)
	}
}

func (s *Server) answer(w http.ResponseWriter, status int, document any) {
	body, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		s.log.Error().Err(err).Msg("cannot encode an answer of the control socket")
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
