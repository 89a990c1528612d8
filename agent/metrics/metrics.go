// Package metrics shows an agent to Prometheus. It reads the status at each scrape; only durations and waits are
// counted as they happen. No metric has a label for each member, so the number of series does not grow with the fleet.
//
// The format is a dozen lines of code. Prometheus' own client would also bring protobuf and code that reads /proc: 2.3
// MB, and a quarter of the time that each start of the program takes, also as the guard of a hook.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/wanderd/wanderd/agent/connlimit"
	"github.com/wanderd/wanderd/agent/control"
)

// Metrics are the metrics of one agent. Its methods are safe for concurrent use.
type Metrics struct {
	status func(context.Context) (control.Status, error)
	// Runs measures the runs of hooks, Commands the commands of callers.
	Runs, Commands Durations
}

// New makes the metrics of an agent; status returns the agent's status.
func New(status func(context.Context) (control.Status, error)) *Metrics {
	return &Metrics{
		status: status,
		Runs: newDurations("wanderd_run_duration_seconds", "How long the runs of the hook took.",
			"wanderd_wait_seconds", "For how long this member was due before a run of the hook began."),
		Commands: newDurations("wanderd_command_duration_seconds", "How long the commands of wanderd exec took.",
			"wanderd_command_wait_seconds", "For how long a caller waited before its command began."),
	}
}

// Handler answers every path with the metrics.
func (m *Metrics) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		status, err := m.status(ctx)
		if err != nil {
			http.Error(w, "the agent does not tell its status: "+err.Error(), http.StatusInternalServerError)
			return
		}
		p := &page{}
		p.collect(&status)
		for _, d := range []Durations{m.Runs, m.Commands} {
			d.took.write(p)
			d.waited.write(p)
		}
		p.runtime()
		p.process()
		w.Header().Set("Content-Type", contentType)
		_ = p.write(w) // a client that has gone needs no answer
	})
}

const (
	// answerTimeout is how long the agent may take for its status, ioTimeout for everything else about a request.
	answerTimeout = 5 * time.Second
	ioTimeout     = 10 * time.Second
	// maxConnections is more than the number of programs that scrape one host.
	maxConnections = 32
)

// Server answers scrapes on a TCP address.
type Server struct {
	http   *http.Server
	served chan error
}

// Serve answers GET /metrics at an address, "host:port", until Close. The error names the remedy.
func (m *Metrics) Serve(address string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot serve metrics at %s: %w; choose another address with --metrics", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	s := &Server{http: &http.Server{
		Handler: mux, ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, IdleTimeout: time.Minute,
	}, served: make(chan error, 1)}
	connlimit.Bound(s.http, maxConnections)
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// Close ends the server, and the answers under way.
func (s *Server) Close() error {
	err := s.http.Close()
	if serveErr := <-s.served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}
