package agent

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/bubble"
)

// commandOn runs a command on a host, and returns how long it waited for its grant.
func (w *world) commandOn(host string) time.Duration {
	w.t.Helper()
	begun, ended := time.Now(), make(chan asked, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	w.exec(ctx, host, "on "+host, ended)
	if r := <-ended; r.err != nil || r.Err != nil {
		w.t.Errorf("%s: %+v, %v", r.name, r.Result, r.err)
	}
	return time.Since(begun) - w.gate.Op
}

// saysTwoProtocols reports whether a host warns that its gate has two protocols, and names these members.
func (w *world) saysTwoProtocols(host string, others ...string) bool {
	w.t.Helper()
	s, err := source{w.agents[host].Agent}.Status(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.ContainsFunc(s.Warnings, func(warning control.Warning) bool {
		names := !slices.ContainsFunc(others, func(name string) bool {
			return !strings.Contains(warning.Text, name+" at ")
		})
		return names && strings.Contains(warning.Text, "two protocols in one gate")
	})
}

// Hosts with a wandering token and hosts on call in one gate are two fleets, each with a token. Every host says so, and
// none counts the others, until all have the same protocol.
func TestTwoProtocolsInOneGateAreTwoFleetsThatSaySo(t *testing.T) {
	g := onDemand()
	g.onCall = true
	inWorld(t, g, func(w *world) {
		var log bytes.Buffer
		w.log = zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.InfoLevel)
		w.wanders = map[string]bool{"a": true, "b": true}
		w.startAll()
		time.Sleep(time.Minute)
		for host, others := range map[string][]string{
			"a": {"c", "d", "e"}, "b": {"c", "d", "e"}, "c": {"a", "b"}, "d": {"a", "b"}, "e": {"a", "b"},
		} {
			if g := gateOf(t, w, host); g.Members != 5-len(others) || !w.saysTwoProtocols(host, others...) {
				t.Errorf("%s sees %d members, and does not name %s", host, g.Members, others)
			}
			w.commandOn(host)
		}
		if holders := w.holders(); len(holders) != 2 {
			t.Errorf("tokens are at %s", holders)
		}
		begun := time.Now()
		for _, host := range []string{"a", "b"} { // the upgrade
			if err := w.leave(host); err != nil {
				t.Error(err)
			}
			delete(w.wanders, host)
			w.start(host, AloneWait)
		}
		for _, host := range w.names() {
			w.until(host+" is content", time.Minute, func() bool { return !w.saysTwoProtocols(host) })
			if waited := w.commandOn(host); waited > time.Minute {
				t.Errorf("%s waited for %v", host, waited)
			}
		}
		if holders := w.holders(); len(holders) != 1 || w.overlap(begun) != 0 {
			t.Errorf("tokens are at %s; two ran at once for %v", holders, w.overlap(begun))
		}
		bubble.Wait()
		for text, want := range map[string]int{
			"two protocols in one gate: call, version 1 on this host, and wander, version 1 on others (": 3,
			"two protocols in one gate: wander, version 1 on this host, and call, version 1 on others (": 2,
			"all members have the protocol of this host again":                                           3,
			"the state directory has the record of another protocol for this gate":                       2,
		} {
			if n := strings.Count(log.String(), text); n < want {
				t.Errorf("%d lines %q, want %d", n, text, want)
			}
		}
	})
}

// A strict gate and a soft one of the same name know of each other, and neither counts the other's members.
func TestAMemberWithoutARosterDoesNotCountInAStrictGate(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		w.rosters = nil
		w.start("c", AloneWait)
		w.rosters = map[string][]string{}
		time.Sleep(time.Minute)
		if why := w.strict("a").NotRunning; !strings.Contains(why, "c at 10.0.0.3:7946 has no roster in this gate, "+
			"but the protocol wander, version 1") {
			t.Errorf("a says %q", why)
		}
	}, "a", "b", "c")
}
