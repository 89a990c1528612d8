package config

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/membership"
)

// setDefaults gives a value to what no layer has set, in an order in which each finds what it depends on, and completes
// addresses.
func (l *Layers) setDefaults() {
	for _, s := range Settings() {
		if l.free(s.ID) && s.Default != "" {
			l.top[s.ID] = l.parse(s, raw{text: s.Default})
		}
	}
	l.defaultName()
	l.defaultPlaces()
	l.completeAddresses()
	l.top.defaultHookTimeout()
}

// free reports whether no layer has said anything of a setting.
func (l *Layers) free(id ID) bool { return !l.top[id].Set && !l.top[id].broken }

// set gives a default that was made by a rule.
func (l *Layers) set(id ID, v Value, rule string) {
	v.Set, v.Origin = true, Origin{Name: rule}
	l.top[id] = v
}

func (l *Layers) defaultName() {
	if !l.free(Name) {
		return
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		l.top[Name].broken = true
		l.bad.add("this host does not tell its name (%v): give one with --%s", err, Name.Setting().Flag())
		return
	}
	l.set(Name, Value{Text: host}, Name.Setting().Rule)
}

func (l *Layers) defaultPlaces() {
	if l.free(StateDir) {
		dir, err := statedir.DefaultDir()
		if err != nil {
			l.top[StateDir].broken = true
			l.bad.add("%s", err)
		} else {
			l.set(StateDir, Value{Text: dir}, "")
		}
	}
	if l.free(Socket) {
		l.set(Socket, Value{Text: filepath.Join(l.top[StateDir].Text, socketName)}, "in "+StateDir.Setting().Key)
		l.top[Socket].broken = l.top[StateDir].broken
	}
}

// completeAddresses gives every address the parts that were left out.
func (l *Layers) completeAddresses() {
	otherwise, rule := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), membership.DefaultPort), "without a secret"
	switch {
	case l.top[SecretFile].Set || l.top[SecretFile].broken:
		otherwise, rule = netip.AddrPortFrom(netip.IPv6Unspecified(), membership.DefaultPort), "with a secret"
	case l.top[Insecure].Bool:
		otherwise, rule = netip.AddrPortFrom(netip.IPv6Unspecified(), membership.DefaultPort), Insecure.Setting().Key
	}
	if l.free(Bind) {
		l.set(Bind, Value{Text: otherwise.String()}, rule)
	}
	bind := l.complete(Bind, func(text string) (netip.AddrPort, error) { return parseBind(text, otherwise) })
	l.complete(Advertise, func(text string) (netip.AddrPort, error) { return parseAdvertise(text, bind.Port()) })

	join := &l.top[Join]
	targets := make([]string, 0, len(join.List))
	for _, text := range join.List {
		target, err := parseJoin(text)
		if err != nil {
			l.reject(Join, fmt.Sprintf("cannot join %q: %s", text, err))
			continue
		}
		targets = append(targets, target)
	}
	join.List = targets
}

func (l *Layers) complete(id ID, parse func(string) (netip.AddrPort, error)) netip.AddrPort {
	if !l.top[id].Set {
		return netip.AddrPort{}
	}
	addr, err := parse(l.top[id].Text)
	if err != nil {
		l.reject(id, fmt.Sprintf("%q: %s", l.top[id].Text, err))
		return addr
	}
	l.top[id].Text = addr.String()
	return addr
}

// reject reports what is wrong with a value that parsed.
func (l *Layers) reject(id ID, why string) {
	l.bad.add("%s: %s", l.top[id].Origin.of(id.Setting()), why)
	l.top[id].Set, l.top[id].broken = false, true
}

// defaultHookTimeout is made for every gate anew, for it depends on the gate's own min_interval.
func (v *values) defaultHookTimeout() {
	timeout := &v[HookTimeout]
	if timeout.broken || timeout.Set && timeout.Origin.Layer != Default {
		return
	}
	*timeout = Value{
		Set: v[MinInterval].Set, Duration: v[MinInterval].Duration, broken: v[MinInterval].broken,
		Origin: Origin{Name: MinInterval.Setting().Key},
	}
}
