// Package metrics shows an agent to Prometheus. The status is read when somebody asks; only durations and waits are counted as
// they happen. No metric has a label for each member, so the number of series does not grow with the fleet.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wanderd/wanderd/agent/connlimit"
	"github.com/wanderd/wanderd/agent/control"
)

// Metrics are the metrics of one agent. Its methods are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	// Runs are those of hooks, Commands what callers ran.
	Runs, Commands Durations
}

// Durations measures what runs under a gate.
type Durations struct{ took, waited *prometheus.HistogramVec }

// New makes the metrics of an agent that tells its status.
func New(status func(context.Context) (control.Status, error)) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		Runs: Durations{
			histogram("wanderd_run_duration_seconds", "How long the runs of the hook took."),
			histogram("wanderd_wait_seconds", "For how long this member was due before a run of the hook began."),
		},
		Commands: Durations{
			histogram("wanderd_command_duration_seconds", "How long the commands of wanderd exec took."),
			histogram("wanderd_command_wait_seconds", "For how long a caller waited before its command began."),
		},
	}
	m.registry.MustRegister(m.Runs.took, m.Runs.waited, m.Commands.took, m.Commands.waited, collector(status),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// histogram counts by seconds: a run may be the touch of a file, or an upgrade of hours.
func histogram(name, help string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.1, 4, 10),
	}, []string{"gate"})
}

// Ended counts what has ended.
func (d Durations) Ended(gate string, took time.Duration) {
	d.took.WithLabelValues(gate).Observe(took.Seconds())
}

// Waited counts the wait before a start.
func (d Durations) Waited(gate string, waited time.Duration) {
	d.waited.WithLabelValues(gate).Observe(waited.Seconds())
}

// Handler answers with the metrics, whatever the path.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Timeout: answerTimeout, EnableOpenMetrics: true})
}

const (
	// answerTimeout is how long the agent may take for its status, ioTimeout for everything else about a request.
	answerTimeout = 5 * time.Second
	ioTimeout     = 10 * time.Second
	// maxConnections is more than all that scrape one host.
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
	s := &Server{http: &http.Server{Handler: mux, ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, IdleTimeout: time.Minute}, served: make(chan error, 1)}
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
