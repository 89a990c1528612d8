package ballot_test

import (
	"flag"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/window"
)

// A world that breaks a rule is made smaller, as long as it breaks the same one, and written as a few lines, which can
// be read again: those in testdata/plans are the regressions.

var huntPlan = flag.String("ballot.plan", "", "let the world of this file live, with its trace")

// leaf is a parameter of a plan.
type leaf struct {
	name string
	reflect.Value
}

// leaves returns the parameters of a plan, except its windows. Those of the parts of a plan stand beside the others.
func leaves(of reflect.Value) (all []leaf) {
	for i := range of.NumField() {
		field, of := of.Type().Field(i), of.Field(i)
		value := reflect.NewAt(field.Type, of.Addr().UnsafePointer()).Elem() // It can be set.
		switch {
		case field.Anonymous:
			all = append(all, leaves(value)...)
		case field.Type != reflect.TypeFor[window.Set]():
			all = append(all, leaf{field.Name, value})
		}
	}
	return all
}

func (p *plan) leaves() []leaf { return leaves(reflect.ValueOf(p).Elem()) }

// each returns the numbers of a parameter: one, or those of a list or a table.
func each(v reflect.Value) (all []reflect.Value) {
	if v.Kind() != reflect.Array {
		return []reflect.Value{v}
	}
	for i := range v.Len() {
		all = append(all, each(v.Index(i))...)
	}
	return all
}

// text writes the parameters that are not zero.
func (p *plan) text() string {
	var b strings.Builder
	for _, l := range p.leaves() {
		switch {
		case l.IsZero():
		case l.name == "kind":
			fmt.Fprintln(&b, "kind =", gateKinds()[p.kind])
		default:
			fmt.Fprint(&b, l.name, " =")
			for _, v := range each(l.Value) {
				if v.Type() == reflect.TypeFor[time.Duration]() {
					fmt.Fprint(&b, " ", time.Duration(v.Int()))
				} else {
					fmt.Fprintf(&b, " %v", v)
				}
			}
			b.WriteByte('\n')
		}
	}
	if p.windows != nil {
		fmt.Fprint(&b, "windows =")
		for _, w := range p.windows {
			fmt.Fprint(&b, " ", w)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// readPlan reads such a text; lines that begin with # say something to people.
func readPlan(text string) (p plan, err error) {
	known := map[string]leaf{}
	for _, l := range p.leaves() {
		known[l.name] = l
	}
	for line := range strings.Lines(text) {
		name, values, is := strings.Cut(strings.TrimSpace(line), " = ")
		l, ok := known[name]
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case is && name == "windows":
			for word := range strings.FieldsSeq(values) {
				w, err := window.Parse(word, utc)
				if err != nil {
					return p, err
				}
				p.windows = append(p.windows, w)
			}
			continue
		case !is || !ok:
			return p, fmt.Errorf("%q is no parameter of a plan with its value", strings.TrimSpace(line))
		case name == "kind":
			p.kind = gateKindOf(values)
			continue
		}
		words, into := strings.Fields(values), each(l.Value)
		if len(words) != len(into) {
			return p, fmt.Errorf("%s has %d values", name, len(into))
		}
		for i, word := range words {
			if err := set(into[i], word); err != nil {
				return p, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return p, nil
}

// set reads one number.
func set(v reflect.Value, word string) error {
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(word)
		v.SetInt(int64(d))
		return err
	case v.CanInt():
		n, err := strconv.ParseInt(word, 10, 64)
		v.SetInt(n)
		return err
	case v.CanUint():
		n, err := strconv.ParseUint(word, 10, v.Type().Bits())
		v.SetUint(n)
		return err
	case v.CanFloat():
		n, err := strconv.ParseFloat(word, 64)
		v.SetFloat(n)
		return err
	}
	is, err := strconv.ParseBool(word)
	v.SetBool(is)
	return err
}

// isFit reports whether a plan is one that a seed could draw: the rules do not hold in others, or they never end.
func (p *plan) isFit() bool {
	hosts := hostSet(1)<<p.members - 1
	in := bits.OnesCount16(uint16(p.core & hosts))
	cored := p.core == 0 || p.core&^hosts == 0 && 2*in > p.members && in < p.members
	paced := p.kind != paced || p.moves != lock && p.minInterval > 0 && p.retryAfter <= p.minInterval
	spells := func(every, lasts time.Duration) bool {
		return every == 0 || every >= p.lease/16 && lasts > 0
	}
	from := wallEpoch + p.wallAhead + p.openFrom
	open := p.windows == nil || p.windows.Open(from) && p.windows.Closes(from)-from >= int64(50*time.Minute)
	return open && p.members >= 2 && p.lease >= p.killAfter+p.margin+6*p.patience && p.killAfter > 0 && p.margin > 0 &&
		p.patience >= 20*time.Millisecond && p.drift > 0 && p.latency > 0 && p.latency <= p.patience/8 &&
		p.jitter <= p.patience/4 && p.runFor > 0 && p.wantEvery >= p.lease/16 && p.faultsFor >= 0 &&
		spells(p.crashEvery, p.downFor) && spells(p.pauseEvery, p.pauseFor) && spells(p.partEvery, p.partFor) &&
		spells(p.leaveEvery, 1) && spells(p.together, 1) && spells(p.deafEvery, 1) && cored && paced &&
		(!p.once || p.minInterval >= 8*p.runFor)
}

// broken lets a world live, and returns the rule that it breaks, and how; empty if it breaks none.
func (p *plan) broken() (rule, how string) {
	defer func() {
		if r := recover(); r != nil {
			rule, how = "panic", fmt.Sprint("panic: ", r)
		}
	}()
	_, _, err := liveIn(*p, shell{}, nil)
	if err == nil {
		return "", ""
	}
	how, _, _ = strings.Cut(err.Error(), "\n")
	rule = how
	if _, after, ok := strings.Cut(how, " s: "); ok { // It begins with when.
		rule = after
	}
	rule, _, _ = strings.Cut(rule, ":")
	return rule, how
}

// The most runs of a world that is made smaller, and the longest time that they may take.
const (
	mostRuns    = 3000
	mostSmaller = time.Minute
)

// smaller makes a world that breaks a rule smaller: fewer hosts, faults, and differences, rounder numbers.
func (p plan) smaller() (least plan, runs int, how string) {
	rule, how := p.broken()
	begun := time.Now()
	least = p
	tries := func(change func(*plan)) bool {
		next := least
		if change(&next); reflect.DeepEqual(next, least) || !next.isFit() || runs == mostRuns ||
			time.Since(begun) > mostSmaller {
			return false
		}
		runs++
		broken, its := next.broken()
		if broken == rule {
			least, how = next, its
		}
		return broken == rule
	}
	for progress := rule != ""; progress; {
		progress = tries(func(p *plan) { p.members--; p.core &= 1<<p.members - 1 })
		progress = tries(func(p *plan) { p.windows = nil }) || progress
		for n, l := range least.leaves() {
			if l.name == "kind" || l.name == "moves" || l.name == "members" || l.IsZero() {
				continue
			}
			of := func(p *plan) reflect.Value { return p.leaves()[n].Value }
			if l.name != "seed" && tries(func(p *plan) { of(p).SetZero() }) {
				progress = true
				continue
			}
			for i := range each(l.Value) {
				for _, simpler := range []func(v reflect.Value){reflect.Value.SetZero, halve, roundly} {
					if l.name == "seed" && l.Uint() < 100 {
						break
					}
					if tries(func(p *plan) { simpler(each(of(p))[i]) }) {
						progress = true
						break
					}
				}
			}
		}
	}
	return least, runs, how
}

func halve(v reflect.Value) {
	switch {
	case v.CanInt():
		v.SetInt(v.Int() / 2)
	case v.CanUint():
		v.SetUint(v.Uint() / 2)
	case v.CanFloat():
		v.SetFloat(v.Float() / 2)
	}
}

// roundly leaves a number one digit, or two.
func roundly(v reflect.Value) {
	switch {
	case v.CanInt():
		n := v.Int()
		unit := int64(1)
		for n/unit >= 20 {
			unit *= 10
		}
		v.SetInt(n / unit * unit)
	case v.CanFloat():
		short, _ := strconv.ParseFloat(strconv.FormatFloat(v.Float(), 'g', 1, 64), 64)
		v.SetFloat(short)
	}
}

// writeSmaller makes a world that has broken a rule smaller, and writes it to a file. It returns what there is to say.
func writeSmaller(p plan) string {
	least, runs, how := p.smaller()
	text := fmt.Sprintf("# %s\n# Made smaller in %d runs.\n%s", how, runs, least.text())
	file := filepath.Join(os.TempDir(), fmt.Sprintf("plan-%d.txt", os.Getpid()))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err.Error()
	}
	return text + "its trace: go test ./policy/ballot -run TestOneWorld -ballot.plan " + file
}

// With -ballot.plan FILE the world of a file lives, and its trace is printed.
func TestOneWorld(t *testing.T) {
	if *huntPlan == "" {
		t.Skip("no world was named with -ballot.plan")
	}
	text, err := os.ReadFile(*huntPlan)
	if err != nil {
		t.Fatal(err)
	}
	p, err := readPlan(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := liveIn(p, shell{}, func(f string, a ...any) { fmt.Printf(f+"\n", a...) }); err != nil {
		t.Error(err)
	}
}

// Worlds that have broken a rule once.
func TestKeptWorlds(t *testing.T) {
	files, err := filepath.Glob("testdata/plans/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := readPlan(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if rule, how := p.broken(); rule != "" {
				t.Error(how)
			}
		})
	}
}

// What is written is read as it was, and whatever a seed draws is fit to be changed.
func TestADrawnPlanCanBeWrittenAndRead(t *testing.T) {
	for _, name := range gateKinds() {
		for seed := range uint64(200) {
			for _, draw := range []func(gateKind, uint64) plan{drawOf, drawCoreOf} {
				p := draw(gateKindOf(name), seed)
				if !p.isFit() {
					t.Errorf("%s, seed %d: it is not fit\n%s", name, seed, p.text())
				}
				again, err := readPlan(p.text())
				if err != nil || !reflect.DeepEqual(again, p) {
					t.Errorf("%s, seed %d: %v\n%s\n%s", name, seed, err, p.text(), again.text())
				}
			}
		}
	}
	for _, text := range []string{"lease", "lease = soon", "far = 1s", "weather = 3", "members = 3 4"} {
		if _, err := readPlan(text); err == nil {
			t.Errorf("%q is a plan", text)
		}
	}
}
