package peers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// A source of addresses is asked who is in the fleet, where addresses come and go: SRV records of the DNS, or a program
// that asks a cloud. It is asked before each attempt to join while no other member is known, and otherwise every
// AskEvery. A source that fails or names nobody changes nothing: the addresses that it gave last are tried on.

const (
	// ServicePrefix begins the name of SRV records among the addresses to join.
	ServicePrefix = "srv:"
	// ProgramPrefix begins a program and its arguments there.
	ProgramPrefix = "exec:"
	// AskEvery is the pause between two questions to a source while other members are known.
	AskEvery = 10 * time.Minute
	// MaxListed is how many addresses of one answer count.
	MaxListed = 1024
)

// Asker asks a source of addresses, which begins with one of the prefixes. It returns "host" or "host:port".
type Asker func(ctx context.Context, source string) ([]string, error)

// IsSource reports whether an address to join is a source of addresses.
func IsSource(s string) bool {
	return strings.HasPrefix(s, ServicePrefix) || strings.HasPrefix(s, ProgramPrefix)
}

// Services looks up SRV records, whatever their priorities and weights are.
func Services(r *net.Resolver) Asker {
	return func(ctx context.Context, source string) (hosts []string, err error) {
		ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
		defer cancel()
		_, records, err := r.LookupSRV(ctx, "", "", strings.TrimPrefix(source, ServicePrefix))
		for _, record := range records {
			host := strings.TrimSuffix(record.Target, ".")
			hosts = append(hosts, net.JoinHostPort(host, strconv.Itoa(int(record.Port))))
		}
		if len(hosts) > 0 {
			err = nil // it is about other records
		}
		return hosts, err
	}
}

// answer is the last answer of a source that names somebody, and when the source was asked.
type answer struct {
	targets []Target
	at      time.Time
}

// ask asks the source, if it is time.
func (a *answer) ask(ctx context.Context, j *Joiner, source string) error {
	if !j.alone() && !a.at.IsZero() && time.Since(a.at) < AskEvery {
		return nil
	}
	a.at = time.Now()
	hosts, err := j.cfg.Ask(ctx, source)
	if err != nil {
		return fmt.Errorf("asking %s: %w", source, err)
	}
	var targets []Target
	for _, host := range hosts {
		if t, wrong := parseTarget(host); wrong == nil && !t.asks && len(targets) < MaxListed {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		return fmt.Errorf("asking %s: %w", source, errors.New("it names no host"))
	}
	a.targets = targets
	return nil
}

// addresses returns addresses of a source in random order, at most maxAddrs.
func (a *answer) addresses(ctx context.Context, j *Joiner, source string) (addrs []netip.AddrPort, err error) {
	if err = a.ask(ctx, j, source); err != nil && len(a.targets) > 0 {
		j.cfg.Log.Debug().Err(err).Msg("the last answer of a source of addresses counts on")
	}
	for _, i := range rand.Perm(len(a.targets)) {
		more, wrong := a.targets[i].resolve(ctx, j.cfg.Resolve)
		if wrong != nil {
			err = wrong
		}
		if addrs = append(addrs, more...); len(addrs) >= maxAddrs || ctx.Err() != nil {
			break
		}
	}
	if len(addrs) > 0 {
		err = nil
	}
	return addrs[:min(len(addrs), maxAddrs)], err
}
