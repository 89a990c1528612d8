package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Source is what an agent answers with. The methods are called by several goroutines at once, and give up when ctx is
// done.
type Source interface {
	Status(ctx context.Context) (Status, error)
	Members(ctx context.Context) (Members, error)
}

// The paths that are served.
const (
	pathStatus  = "/v1/status"
	pathMembers = "/v1/members"
)

const (
	// sourceTimeout is how long an agent may think about an answer.
	sourceTimeout = 5 * time.Second
	// ioTimeout bounds how long a question may take to come in; the answer gets as long on top of sourceTimeout.
	ioTimeout   = 5 * time.Second
	idleTimeout = 30 * time.Second
	maxHeader   = 8 << 10
	// closeTimeout is how long Close lets answers finish.
	closeTimeout = time.Second
)

// Server answers on a unix socket until it is closed.
type Server struct {
	socket *socket
	http   *http.Server
	served chan struct{}
	close  func() error
}

// Serve answers on a new socket at path, which it makes with mode 0600. The socket of a dead agent is replaced. It is an
// error if an agent that lives uses the path, if it is longer than a socket's can be, or names another kind of file.
func Serve(path string, src Source, logger zerolog.Logger) (*Server, error) {
	socket, err := listen(path)
	if err != nil {
		return nil, err
	}
	s := &Server{
		socket: socket,
		http: &http.Server{
			Handler:           handler(src, logger),
			ReadHeaderTimeout: ioTimeout,
			ReadTimeout:       ioTimeout,
			WriteTimeout:      sourceTimeout + ioTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeader,
			ErrorLog:          log.New(lineWriter{logger}, "", 0),
		},
		served: make(chan struct{}),
	}
	s.close = sync.OnceValue(s.shutdown)
	go func() {
		defer close(s.served)
		if err := s.http.Serve(socket); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			logger.Error().Err(err).Msg("the control socket failed; status and members do not answer any more")
		}
	}()
	return s, nil
}

// Close stops answering and removes the socket's file. It may be called again.
func (s *Server) Close() error { return s.close() }

func (s *Server) shutdown() error {
	// The file goes first, so that no client finds a socket that nobody listens on.
	removeErr := s.socket.remove()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-s.served
	return errors.Join(removeErr, err)
}

// failure is the document of every answer that is none.
type failure struct {
	Error string   `json:"error"`
	Paths []string `json:"paths,omitempty"`
}

// handler routes by hand: what http.ServeMux says to a wrong path or method is not JSON.
func handler(src Source, logger zerolog.Logger) http.Handler {
	paths := []string{pathMembers, pathStatus}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ask, ok := map[string]func(context.Context) (any, error){
			pathStatus:  func(ctx context.Context) (any, error) { return src.Status(ctx) },
			pathMembers: func(ctx context.Context) (any, error) { return members(ctx, src) },
		}[r.URL.Path]
		switch {
		case !ok:
			answer(w, logger, http.StatusNotFound, failure{
				Error: fmt.Sprintf("no such path: %s", r.URL.Path), Paths: paths,
			})
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			answer(w, logger, http.StatusMethodNotAllowed, failure{Error: "this path can only be read: use GET"})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), sourceTimeout)
		defer cancel()
		document, err := ask(ctx)
		if err != nil {
			answer(w, logger, http.StatusServiceUnavailable, failure{Error: err.Error()})
			return
		}
		answer(w, logger, http.StatusOK, document)
	})
}

// members never says null where a list is empty.
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
		logger.Error().Err(err).Msg("the control socket has no answer")
		http.Error(w, `{"error": "internal error"}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that has gone needs no answer
}

// lineWriter makes what net/http complains about lines of the agent's log.
type lineWriter struct{ log zerolog.Logger }

func (l lineWriter) Write(p []byte) (int, error) {
	l.log.Warn().Bytes("text", p).Msg("control socket")
	return len(p), nil
}
