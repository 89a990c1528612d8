// Package wanderd_test holds the rules of the house that no compiler checks: which package may import which, and what a
// file may look like.
package wanderd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/wanderd/wanderd"

// rule tells what the packages of one room may import directly. A room ends in "/..." if there are packages below it.
type rule struct {
	// room is the room's path, relative to the module.
	room string
	// ours are the only other rooms of this module that the room's packages and tests may import. inTests are those
	// that its tests may import as well.
	ours, inTests []string
	// never are import paths outside of this module that the room must not import, but its tests may. "x/..." is x and
	// everything below it.
	never []string
	why   string
}

// house is the picture in ARCHITECTURE.md.
//
//	wire <- policy <- agent <- cmd/wanderd     membership <- agent     policy <- sim <- cmd/wandersim     all <- lab
//	sim <- check, trace, measure <- fleet <- hunt, plan <- cmd/wandersim     seeds <- hunt, plan
//	seeds, report <- lab/study <- paper, beyond, siblings
func house() []rule {
	impure := []string{"net", "net/http", "os/...", "sync/...", "context", "log/...", "math/rand", "crypto/rand"}
	studied := []string{"wire", "policy/...", "sim", "sim/fleet/...", "sim/measure", "lab/study", "sim/report"}
	return []rule{
		{room: "wire", never: impure, why: "bytes in, bytes out"},
		{
			room: "policy/...", ours: []string{"wire"}, inTests: []string{
				"lab/forms", "lab/mutant", "sim/explore",
			}, never: impure,
			why: "no clock, no I/O, no goroutine",
		},
		{room: "policy/kcopies/survival", never: impure, why: "whole numbers only"},
		{room: "policy/window", never: impure, why: "a calendar, and nothing that goes by it"},
		{room: "policy/downcount", never: impure, why: "it counts, and does not know whom"},
		{room: "policy/stages", never: impure, why: "it is told where the others stand"},
		{room: "policy/holds", ours: []string{"policy"}, never: impure, why: "it does not know how gates are asked"},
		{
			room: "membership/...", ours: []string{"wire"}, inTests: []string{"agent/transport/..."},
			why: "it knows of peers, not of tokens or agents",
		},
		{room: "membership/identity", ours: []string{"wire"}, why: "it names members"},
		{room: "membership/timing", why: "it waits, and does not know for what"},
		{
			room: "membership/broadcast", ours: []string{"wire", "membership/identity", "membership/timing"},
			inTests: []string{"membership/peertest"}, why: "it carries directives, and does not know who is a member",
		},
		{
			room: "membership/packets", ours: []string{"wire", "membership/identity", "membership/broadcast"},
			inTests: []string{"membership/peertest"}, why: "it reads messages, and does not know whose they are",
		},
		{
			room: "membership/peers", ours: []string{
				"wire", "membership/identity", "membership/packets", "membership/timing",
			},
			inTests: []string{"membership/peertest"}, why: "it is told who is trusted, and what has been seen",
		},
		{
			room: "membership/admission",
			ours: []string{
				"wire", "membership/identity", "membership/packets", "membership/peers", "membership/timing",
			},
			inTests: []string{"membership/peertest"}, why: "it decides who takes part, and connects to nobody",
		},
		{
			room: "membership/streams",
			ours: []string{
				"wire", "membership/identity", "membership/packets", "membership/admission", "membership/timing",
			},
			inTests: []string{"membership/peertest"}, why: "it gives places, and does not know what for",
		},
		{room: "membership/peertest", ours: []string{"wire", "membership/identity"}, why: "tests of every room use it"},
		{
			room: "agent/...", ours: []string{
				"wire", "policy", "policy/directive", "policy/ready", "policy/downcount", "policy/stages",
				"policy/holds", "membership/...", "smallfile",
			}, inTests: []string{"policy/...", "lab/mutant"},
			why: "the shell of real agents knows the contract and no protocol",
		},
		{room: "agent/transport/...", why: "it moves bytes"},
		{room: "agent/changed", why: "it looks, and reads nothing"},
		{
			room: "agent/gate", ours: []string{
				"wire", "policy", "policy/directive", "policy/ready", "policy/downcount", "policy/stages",
				"policy/holds", "agent/aftercare", "agent/beside", "agent/clock", "agent/control", "agent/events",
				"agent/history", "agent/hook", "agent/statedir", "agent/together",
			}, inTests: []string{"policy/..."}, never: []string{"net", "net/http"},
			why: "it is given its network, its clock and its loop",
		},
		{
			room: "agent/together", ours: []string{"agent/hook", "policy/holds"}, inTests: []string{"lab/bubble"},
			why: "it is given the gates, and how to take one",
		},
		{
			room: "agent/aftercare", ours: []string{"agent/control", "agent/hook"},
			why: "it is told what a program has said, and when to stop",
		},
		{
			room: "agent/hook/early", never: []string{"fmt", "strings", "encoding/json", "os/exec"},
			why: "what it imports is initialised before it",
		},
		{
			room: "agent/events", ours: []string{"agent/beside", "agent/control", "agent/hook", "agent/statedir"},
			why: "it delivers, and does not know what happens",
		},
		{room: "agent/beside", why: "it does not know what goes on"},
		{room: "agent/clock", ours: []string{"policy"}, why: "it reads clocks, and sets none"},
		{room: "agent/connlimit", why: "it counts connections"},
		{room: "agent/control/...", ours: []string{"agent/connlimit", "agent/history"}, why: "it carries documents"},
		{room: "agent/metrics", ours: []string{"agent/connlimit", "agent/control"}, why: "it shows a status"},
		{room: "agent/fleet", ours: []string{
			"wire", "agent/control", "agent/history", "membership",
			"membership/identity",
		}, why: "it asks and answers, and knows no loop"},
		{room: "agent/fleetlock", why: "it answers, and does not know whose turn it is"},
		{room: "agent/history", ours: []string{"smallfile"}, why: "it keeps what it is given"},
		{room: "agent/safepath", why: "it looks at owners and modes"},
		{room: "smallfile", why: "it reads, and does not know what"},
		{
			room: "sim/...", ours: []string{"wire", "policy/..."}, inTests: []string{"lab/forms", "lab/mutant"},
			never: []string{"net", "math/rand", "crypto/rand"},
			why:   "a seed decides everything",
		},
		{
			room: "sim", ours: []string{
				"wire", "policy", "policy/directive", "policy/ready", "policy/marks", "policy/downcount",
				"policy/stages",
			},
			why: "the kernel knows no protocol, and nobody who uses it",
		},
		{
			room: "sim/check", ours: []string{"wire", "policy", "sim"}, inTests: []string{
				"policy/ballot", "policy/ring", "policy/strict", "policy/policytest", "sim/trace",
			},
			why: "rules that hold for every protocol",
		},
		{
			room: "sim/reduce", ours: []string{"policy", "policy/window", "sim", "sim/calendar"},
			inTests: []string{"policy/soft"},
			why:     "a family says what is fit for a run",
		},
		{room: "sim/calendar", ours: []string{"policy/window", "sim"}, why: "gates do not know it"},
		{room: "sim/mutate", ours: []string{"sim", "sim/reduce"}, why: "a family says what is fit for a run"},
		{room: "sim/trace", ours: []string{"wire", "policy", "sim"}, why: "it is given a protocol's words"},
		{
			room: "sim/measure", ours: []string{"wire", "policy", "sim"},
			inTests: []string{"policy/...", "sim/fleet/wander"},
			why:     "it counts, and presents nothing",
		},
		{
			room: "sim/fleet/...",
			ours: []string{
				"wire", "policy/...", "sim", "sim/calendar", "sim/check", "sim/trace", "sim/measure", "sim/reduce",
			},
			inTests: []string{"sim/hunt", "sim/explore", "lab/forms", "lab/mutant", "sim/script", "sim/mutate"},
			why:     "a protocol's own worlds and rules",
		},
		{
			room: "sim/hunt", ours: []string{
				"policy", "policy/marks", "policy/call", "policy/wander", "sim", "sim/trace", "sim/reduce",
				"sim/mutate", "sim/fleet/...", "sim/seeds",
			},
			why: "checkers judge",
		},
		{
			room: "sim/plan", ours: []string{"wire", "policy/...", "sim", "sim/fleet/...", "sim/measure", "sim/seeds"},
			why: "it answers in plain data and text",
		},
		{room: "sim/explore", never: impure, why: "a test brings the world"},
		{room: "sim/seeds", why: "it does not know what is run"},
		{
			room: "cmd/wanderd/...", ours: []string{
				"wire", "policy/...", "membership/...", "agent/...", "smallfile", "cmd/cli/...",
			},
			why: "hosts foresee nothing, and measure nothing",
		},
		{room: "cmd/hook-guard", ours: []string{"agent/hook"}, why: "it starts with every hook, so it is small"},
		{
			room: "cmd/wandersim/...", ours: []string{"wire", "policy/...", "sim/...", "cmd/cli/..."},
			why: "the simulator is a shell of its own",
		},
		{
			room: "cmd/cli/...", ours: []string{"policy/soft", "policy/wander", "policy/window", "smallfile"},
			why: "it knows commands and flags, and neither agents nor simulations",
		},
		{
			room: "lab/study/...", ours: []string{"wire", "policy/...", "sim/..."},
			never: []string{"net", "math/rand", "crypto/rand"},
			why:   "a seed decides everything",
		},
		{room: "lab/study", ours: []string{"sim/seeds", "sim/report"}, why: "it does not know what is asked"},
		{room: "lab/study/paper", ours: studied, why: "the paper's own questions"},
		{room: "lab/study/beyond", ours: studied, why: "questions beyond the paper"},
		{room: "lab/study/siblings", ours: studied, why: "the questions of papers on other protocols"},
		{room: "lab/study/compare", ours: studied, why: "the protocols side by side"},
		{room: "sim/report", why: "plain data in, bytes out"},
		{
			room: "lab/hosts", ours: []string{"agent/control", "lab/ports"},
			why: "it runs agents, and does not know what for",
		},
		{room: "lab/directives", ours: []string{"lab/hosts", "agent/control"}, why: "it judges what real agents say"},
		{room: "lab/oncall", ours: []string{"lab/hosts", "agent/control"}, why: "it measures what real agents do"},
		{room: "lab/chaos", ours: []string{"lab/hosts"}, why: "it judges what real processes do"},
		{room: "cmd/wanderd/follow", ours: []string{"agent/control"}, why: "it asks by way of the control socket only"},
		{
			room: "cmd/wanderd/web", ours: []string{"agent/control", "cmd/wanderd/follow"},
			why: "it is a client of the control socket",
		},
		{room: "lab/mutant", ours: []string{"lab/deep"}, why: "it changes texts"},
		{room: "lab/bubble", why: "it runs tests"},
		{room: "lab/deep", why: "it says which tests run"},
		{room: "lab/ports", why: "it knows ports, and not what listens there"},
		{room: "sim/script", ours: []string{"sim"}, why: "a protocol brings what is its own"},
		{
			room: "examples/...", inTests: []string{"agent/control", "agent/metrics"},
			why: "what an operator could write too",
		},
	}
}

// forTests returns the rooms that the tests of all packages may import.
func forTests() []string { return []string{"lab/bubble", "lab/deep", "lab/ports"} }

// soleImporter returns the only rooms that may import a module, tests included.
func soleImporter() map[string]string {
	return map[string]string{
		"github.com/hashicorp/memberlist": "membership/...",
		module + "/agent/agenttest":       "lab/...", // what only tests use is not in a program
		"testing/synctest":                "lab/bubble",
	}
}

func TestImportsGoOneWay(t *testing.T) {
	for _, v := range violations(list(t, "./..."), house(), soleImporter()) {
		t.Error(v)
	}
}

// Nothing makes the program large. Code that calls methods by name makes the linker keep all methods of all types.
// Package plot has twelve fonts and reads them at every start. Programs that are installed contain nothing of lab.
func TestNothingMakesTheProgramLarge(t *testing.T) {
	for _, p := range list(t, "./...") {
		if within("lab/...", p.local()) {
			continue
		}
		for _, large := range []string{
			"text/template", "html/template", "gonum.org/v1/plot", "gonum.org/v1/plot/plotter",
		} {
			if slices.Contains(p.Imports, large) {
				t.Errorf("%s imports %s", p.ImportPath, large)
			}
		}
	}
}

func TestEveryImportRuleNamesSomething(t *testing.T) {
	packages := list(t, "./...")
	known := map[string]bool{}
	for _, p := range list(t, "-deps", "./...") {
		known[p.ImportPath] = true
	}
	for _, r := range house() {
		for _, room := range slices.Concat([]string{r.room}, r.ours, r.inTests) {
			if !slices.ContainsFunc(packages, func(p listed) bool { return within(room, p.local()) }) {
				t.Errorf("the rule for %s names %s, where no package is", r.room, room)
			}
		}
		for _, name := range r.never {
			if name = strings.TrimSuffix(name, "/..."); !known[name] {
				t.Errorf("the rule for %s forbids %s, which nothing in this program is made of", r.room, name)
			}
		}
	}
	for name, room := range soleImporter() {
		if !slices.ContainsFunc(packages, func(p listed) bool {
			return within(room, p.local()) && slices.Contains(slices.Concat(p.Imports, p.TestImports, p.XTestImports),
				name)
		}) {
			t.Errorf("only %s may import %s, and does not", room, name)
		}
	}
}

func TestImportRulesCatchAPlantedImport(t *testing.T) {
	for _, plant := range []struct {
		at, imports string
		test        bool
		caught      bool
	}{
		{at: "wire", imports: module + "/policy", caught: true},
		{at: "wire", imports: "net/netip"},
		{at: "policy/wander", imports: module + "/policy/handoff"},
		{at: "policy/wander", imports: module + "/agent/control", caught: true},
		{at: "policy/wander", imports: "os/exec", caught: true},
		{at: "policy/wander", imports: "os/exec", test: true},
		{at: "policy/wander", imports: "math/rand", caught: true},
		{at: "policy/wander", imports: "math/rand/v2"},
		{at: "membership", imports: module + "/policy", caught: true},
		{at: "membership/peers", imports: module + "/membership/admission", caught: true},
		{at: "membership/broadcast", imports: module + "/membership", caught: true},
		{at: "membership/peertest", imports: module + "/membership/peers", caught: true},
		{at: "membership", imports: module + "/wireless", caught: true},
		{at: "membership", imports: module + "/agent/transport", caught: true},
		{at: "membership", imports: module + "/agent/transport", test: true},
		{at: "agent", imports: module + "/sim", caught: true},
		{at: "agent/transport/memnet", imports: module + "/wire", caught: true},
		{at: "agent", imports: module + "/policy"},
		{at: "agent", imports: module + "/policy/wander", caught: true},
		{at: "agent", imports: module + "/policy/wander", test: true},
		{at: "agent", imports: module + "/sim", test: true, caught: true},
		{at: "sim/check", imports: module + "/agent", caught: true},
		{at: "sim", imports: module + "/cmd/wanderd", caught: true},
		{at: "sim", imports: module + "/sim/measure", caught: true},
		{at: "sim", imports: module + "/policy"},
		{at: "sim", imports: module + "/policy/handoff", caught: true},
		{at: "sim", imports: module + "/policy/wander", test: true, caught: true},
		{at: "sim/check", imports: module + "/policy/wander", caught: true},
		{at: "sim/trace", imports: module + "/policy/guardian", caught: true},
		{at: "sim/check", imports: module + "/sim/fleet/wander", test: true, caught: true},
		{at: "sim/fleet/wander", imports: module + "/sim/check"},
		{at: "sim/fleet/wander", imports: module + "/sim/hunt", test: true},
		{at: "sim/fleet/wander", imports: module + "/sim/plan", test: true, caught: true},
		{at: "lab/study/paper", imports: module + "/lab/study/beyond", caught: true},
		{at: "lab/study/beyond", imports: module + "/lab/study"},
		{at: "lab/study", imports: module + "/sim", caught: true},
		{at: "sim/plan", imports: module + "/sim/report", caught: true},
		{at: "sim/fleet/wander", imports: module + "/lab/mutant", test: true},
		{at: "sim/fleet/wander", imports: module + "/lab/mutant", caught: true},
		{at: "sim/fleet/wander", imports: module + "/lab/study", test: true, caught: true},
		{at: "agent", imports: module + "/lab/hosts", test: true, caught: true},
		{at: "cmd/wanderd", imports: module + "/sim/report", test: true, caught: true},
		{at: "cmd/wandersim", imports: module + "/agent/control", test: true, caught: true},
		{at: "cmd/wandersim", imports: module + "/lab/study", test: true, caught: true},
		{at: "cmd/cli", imports: module + "/agent/control", caught: true},
		{at: "agent", imports: "github.com/hashicorp/memberlist", test: true, caught: true},
		{at: "membership", imports: "github.com/hashicorp/memberlist"},
		{at: "agent", imports: "testing/synctest", test: true, caught: true},
		{at: "lab/bubble", imports: "testing/synctest"},
	} {
		p := listed{ImportPath: module + "/" + plant.at}
		if plant.test {
			p.XTestImports = []string{plant.imports}
		} else {
			p.Imports = []string{plant.imports}
		}
		got := violations([]listed{p}, house(), soleImporter())
		if caught := len(got) > 0; caught != plant.caught {
			t.Errorf("%s imports %s (test: %v): caught is %v, want %v: %q",
				plant.at, plant.imports, plant.test, caught, plant.caught, got)
		}
	}
}

// listed is what "go list -json" reports about a package.
type listed struct {
	ImportPath                                  string
	Imports, TestImports, XTestImports, GoFiles []string
}

// local returns the import path relative to the module.
func (p listed) local() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	args = append([]string{"list", "-json=ImportPath,Imports,TestImports,XTestImports,GoFiles"}, args...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("the output of %s: %v", cmd, err)
		}
		packages = append(packages, p)
	}
}

// within reports whether name is in a room, or is the package that the room names.
func within(room, name string) bool {
	if top, ok := strings.CutSuffix(room, "/..."); ok {
		return name == top || strings.HasPrefix(name, top+"/")
	}
	return name == room
}

// anyHas reports whether name is in one of the rooms.
func anyHas(rooms []string, name string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool { return within(room, name) })
}

// forbids reports whether name is a package of this module, and neither in the rule's room nor in an allowed one.
func (r rule) forbids(name string, allowed []string) bool {
	local, ours := strings.CutPrefix(name, module+"/")
	return ours && !within(r.room, local) && !anyHas(allowed, local)
}

func violations(packages []listed, rules []rule, sole map[string]string) []string {
	var found []string
	for _, p := range packages {
		for _, r := range rules {
			if !within(r.room, p.local()) {
				continue
			}
			for _, name := range p.Imports {
				if r.forbids(name, r.ours) || anyHas(r.never, name) {
					found = append(found, fmt.Sprintf("%s imports %s: %s", p.local(), name, r.why))
				}
			}
			for _, name := range slices.Concat(p.TestImports, p.XTestImports) {
				if r.forbids(name, slices.Concat(r.ours, r.inTests, forTests())) {
					found = append(found, fmt.Sprintf("a test of %s imports %s: %s", p.local(), name, r.why))
				}
			}
		}
		for _, name := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if room, ok := sole[name]; ok && !within(room, p.local()) {
				found = append(found, fmt.Sprintf("%s imports %s: only %s does", p.local(), name, room))
			}
		}
	}
	return found
}
