package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/fleet"
	"github.com/wanderd/wanderd/agent/fleetlock"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/metrics"
	"github.com/wanderd/wanderd/agent/patterns"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/transport"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

// Agent is one member of a fleet.
type Agent struct {
	cfg  Config
	deps Deps
	log  zerolog.Logger

	self     wire.MemberID
	state    *statedir.Dir
	endpoint *transport.Endpoint
	members  *membership.Membership
	fleet    *fleet.Fleet
	memory   memory
	// forgotten are the members that are gone for good.
	forgotten forgotten
	// moved is the warning that the state directory is not where it was made; empty if it is. A member with that
	// warning takes part in no strict gate.
	moved       string
	credentials *credentials
	intake      *intake
	// reloading serialises reloads.
	reloading sync.Mutex
	// serving guards control.
	serving sync.Mutex
	control io.Closer
	clock   *clock.Clock
	started time.Time
	metrics *metrics.Metrics
	events  *events.Events
	// metricsServer is nil unless the metrics have an address of their own.
	metricsServer *metrics.Server
	// lockServers serve the clients that reboot this host.
	lockServers []*fleetlock.Server

	// listed is a copy of gates that other goroutines than the loop may read.
	listed atomic.Pointer[[]*gate.Gate]
	// patterns are those in the configuration.
	patterns atomic.Pointer[[]*patterns.Pattern]

	// env is the environment that every gate of this agent gets.
	env *gate.Env

	// Only the loop uses the fields below.
	gates  []*gate.Gate
	byGate map[wire.GateID]*gate.Gate
	// awaited are the gates of the configuration that have not been added yet. vacant, of capacity one, signals that
	// some of them may be added now.
	awaited []gate.Config
	vacant  chan struct{}
	view    *membership.View
	company company
	leaving bool
	// stopping is true once the agent ends its runs in order to stop; goroutines beside the loop read it.
	stopping  atomic.Bool
	stateLoss stateLoss
	sendBuf   []byte
	notifier  notifier

	// ended carries completions to the loop, which calls them: what to do when something beside the loop has ended.
	ended   chan func()
	queries chan func()
}

// Deps are the dependencies that block outside of Go; a test in virtual time replaces them.
type Deps struct {
	Listen    func(netip.AddrPort) (*transport.Endpoint, error)
	StartHook func(hook.Spec) (gate.HookRun, error)
	Save      func(dir *statedir.Dir, gate string, r statedir.Record) error
	Serve     func(path, group string, src control.Source, log zerolog.Logger) (io.Closer, error)
	Host      clock.Host
	// Stops asks the service manager whether this host is being shut down, which may take a second.
	Stops func() bool
	// Starts asks the service manager whether this host is still starting, which may take a second.
	Starts func() bool
}

// inboundQueue bounds the datagrams that wait for the loop; further ones are dropped and counted.
const inboundQueue = 256

// New prepares an agent: it reads the state directory and binds the address. Errors name the remedy. It sends nothing
// before Run.
func New(cfg Config) (*Agent, error) {
	return NewWith(cfg, Deps{
		Listen: func(bind netip.AddrPort) (*transport.Endpoint, error) {
			return transport.Listen(bind, []byte(wire.Magic))
		},
		StartHook: func(spec hook.Spec) (gate.HookRun, error) { return hook.Start(spec) },
		Save:      (*statedir.Dir).Save,
		Serve:     control.Serve,
		Host:      clock.OfHost(),
		Stops:     hostStops,
		Starts:    hostStarts,
	})
}

// NewWith is New with other dependencies.
func NewWith(cfg Config, d Deps) (_ *Agent, err error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	a := &Agent{
		cfg: cfg, deps: d, log: cfg.Log,
		// at most six per gate: run, what it holds, question, saves of state, roster, history
		ended:   make(chan func(), 6*(identity.MaxGates+identity.MaxOnDemand)),
		vacant:  make(chan struct{}, 1),
		queries: make(chan func()),
		view:    &membership.View{},
		started: time.Now(),
		clock:   clock.New(d.Host),
	}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if a.state, err = statedir.Open(cfg.StateDir); err != nil {
		return nil, err
	}
	key, created, err := a.state.NodeKey()
	if err != nil {
		return nil, err
	}
	a.findHome()
	a.self = wire.MemberIDOf(key.Public().(ed25519.PublicKey))
	a.log = a.log.With().Str("member", a.self.Short()).Logger()
	if created {
		a.log.Info().Str("path", cfg.StateDir).Msg("made a node key")
	}
	a.credentials = &credentials{cfg: &a.cfg, log: a.log, key: key}
	if err := a.credentials.openTrust(a.state.CertificatePath()); err != nil {
		return nil, err
	}
	if err := a.credentials.openSecrets(); err != nil {
		return nil, err
	}
	a.intake = newIntake(&a.cfg, &a.credentials.codec, a.started)
	a.metrics = metrics.New(source{a}.Status)
	a.recall()
	a.events = events.New(&cfg.Events, a.state, func(s hook.Spec) (events.Run, error) { return d.StartHook(s) }, a.log)
	a.env = a.newEnv()
	list := patterns.New(cfg.Gates)
	a.patterns.Store(&list)
	gates := make([]*gate.Gate, 0, len(cfg.Gates))
	for _, gc := range cfg.Gates {
		if patterns.IsPattern(gc.Name) {
			continue
		}
		past, err := a.pastOf(&gc)
		if err != nil {
			return nil, err
		}
		gates = append(gates, gate.New(a.env, gc, past))
	}
	a.setGates(gates)
	if a.endpoint, err = d.Listen(cfg.Bind); err != nil {
		return nil, err
	}
	if cfg.Metrics != "" {
		if a.metricsServer, err = a.metrics.Serve(cfg.Metrics); err != nil {
			return nil, err
		}
	}
	if err := a.serveLocks(); err != nil {
		return nil, err
	}
	if a.control, err = d.Serve(cfg.Socket, cfg.SocketGroup, source{a}, a.log); err != nil {
		return nil, err
	}
	if err := a.startMembership(); err != nil {
		return nil, err
	}
	a.fleet = fleet.New(a.self, source{a}, a.members, a.describe)
	return a, nil
}

// findHome warns if the state directory is not where it was made.
func (a *Agent) findHome() {
	var err error
	a.moved, err = a.state.Moved()
	switch {
	case err != nil:
		a.log.Warn().Err(err).Msg("a copy of this state directory would not be detected")
	case a.moved != "":
		a.log.Warn().Msg(a.moved)
	}
}

func (a *Agent) startMembership() (err error) {
	a.members, err = membership.Start(membership.Config{
		Name: a.cfg.Name, Key: a.credentials.key, AtHome: a.moved == "", Gates: announced(a),
		Addr: a.endpoint.Addr, Advertise: a.cfg.Advertise, Join: a.cfg.Join,
		Remembered: a.memory.fleet, Secrets: a.credentials.secrets,
		Send: a.sendGossip, Streams: a.endpoint.Streams, Log: a.log,
		Answer: func(ctx context.Context, _ *membership.Member, question []byte) []byte {
			return fleet.Answer(ctx, source{a}, question, a.cfg.Secret != nil)
		},
		Ask:   a.sourcesOfAddresses(),
		Trust: a.credentials.trusted(), Certificate: a.credentials.certificate.Bytes, Admit: a.intake.admitsGossip,
	})
	if err == nil {
		a.credentials.members, a.intake.gossip = a.members, a.members.Deliver
		a.forgotten.a = a
		a.forgotten.recall()
	}
	return err
}

// Addr is the agent's bound address.
func (a *Agent) Addr() netip.AddrPort { return a.endpoint.Addr }

// Member is the agent's identity.
func (a *Agent) Member() wire.MemberID { return a.self }

// Run takes part in the fleet until ctx is done. Then it leaves: within StopTimeout it stops its hooks, passes its
// tokens on and tells the others. Call it once.
func (a *Agent) Run(ctx context.Context) error {
	reading := make(chan error, 1)
	go func() { reading <- a.intake.read(a.endpoint.Packets) }()
	line := a.log.Info().Stringer("address", a.endpoint.Addr).Str("name", a.cfg.Name).
		Bool("sealed", a.cfg.Secret != nil).Int("gates", len(a.gates)).Str("version", a.cfg.Version)
	if n := len(a.memory.fleet); n > 0 {
		line.Int("remembers", n)
	}
	line.Msg("started")
	stops := []func(){
		beside.Start(a.keepMemory), beside.Start(a.keepState), beside.Start(a.credentials.keep),
		beside.Start(a.keepReloading),
	}
	stopEvents := beside.Start(a.events.Run)
	err := a.loop(ctx, reading)
	for _, g := range a.gates {
		g.SendAway()
	}
	for _, stop := range stops {
		stop()
	}
	var histories sync.WaitGroup
	for _, g := range a.gates {
		histories.Go(g.Close)
	}
	histories.Wait()
	stopEvents()
	if _, isCopy := errors.AsType[*CopyError](err); isCopy {
		a.close()
		return err
	}
	if slices.ContainsFunc(a.gates, gate.GoesWithGrant) {
		// "A host that is away under a grant is down, and has not left": if it stays away, it counts as failed.
		a.log.Info().Msg("the others miss this host until it is back")
	} else if leaveErr := a.members.Leave(membershipLeave); leaveErr != nil {
		a.log.Warn().Err(leaveErr).
			Msg("could not tell the other members that this one leaves; they will see it as failed")
	}
	a.close()
	a.log.Info().Msg("stopped")
	return err
}

// CopyError is returned if the state directory is a copy of one that another agent uses. This agent must not run.
type CopyError struct {
	// Path is the directory, Original the address of the other agent if it is known.
	Path     string
	Original netip.AddrPort
}

func (e *CopyError) Error() string {
	where := ""
	if e.Original.IsValid() {
		where = " at " + e.Original.String()
	}
	return fmt.Sprintf("the state directory %s is a copy, and another agent%s uses the original: "+
		"remove this copy and start again, to get a new key; "+
		"or, to keep this one, stop the other agent and remove its state directory first", e.Path, where)
}

// membershipLeave bounds how long leaving the gossip network takes; goodbye bounds everything after the gates have
// left.
const (
	membershipLeave = 2 * time.Second
	goodbye         = 5 * time.Second
)

// close releases everything that New has acquired.
func (a *Agent) close() {
	a.serving.Lock()
	if a.control != nil {
		a.warn(a.control.Close(), "control socket")
	}
	a.control = nil
	a.serving.Unlock()
	if a.metricsServer != nil {
		a.warn(a.metricsServer.Close(), "metrics")
	}
	for _, s := range a.lockServers {
		a.warn(s.Close(), "FleetLock")
	}
	if a.members != nil {
		a.warn(a.members.Shutdown(), "membership")
	}
	if a.endpoint != nil {
		a.warn(a.endpoint.Close(), "network")
	}
	if a.state != nil {
		a.warn(a.state.Close(), "state directory")
	}
}

func (a *Agent) warn(err error, what string) {
	if err != nil && !errors.Is(err, net.ErrClosed) {
		a.log.Warn().Err(err).Msgf("closing the %s", what)
	}
}

// validate refuses an unsafe or impossible configuration. The command line has checked most of it before, and names the
// origin of each value.
func (c *Config) validate() error {
	if len(c.Gates) == 0 {
		return errors.New("no gate: an agent needs at least one hook to run")
	}
	if c.Secret == nil && !c.Insecure && !c.Bind.Addr().IsLoopback() {
		return fmt.Errorf("without a fleet secret the agent binds to loopback only, not to %s: "+
			"give all members the same --secret-file (wanderd keygen --secret makes one), or set --insecure", c.Bind)
	}
	return checkGates(c.Name, c.Gates)
}

// checkGates refuses gates that the member of this name cannot have together.
func checkGates(name string, gates []gate.Config) error {
	ids := make([]wire.GateID, 0, len(gates))
	for i, g := range gates {
		ids = append(ids, wire.GateIDOf(g.Name))
		switch {
		case g.Protocol == nil:
			return fmt.Errorf("gate %q has no protocol", g.Name)
		case g.Roster != nil && !slices.Contains(g.Roster, name):
			return fmt.Errorf("%q is not in the roster of gate %q (%s): "+
				"add it on all hosts, or leave the gate out here",
				name, g.Name, strings.Join(g.Roster, ", "))
		case slices.Contains(ids[:i], ids[i]):
			return fmt.Errorf("there are two gates %q: rename one of them", g.Name)
		}
	}
	return membership.CheckGates(ids)
}
