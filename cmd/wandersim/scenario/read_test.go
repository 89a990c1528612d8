package scenario

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/sim"
)

// read reads flags, each as "key=value", and a file unless it is empty.
func read(t *testing.T, file string, flags ...string) (Parameters, error) {
	t.Helper()
	layer, set := settings.Flags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	layer.AddTo(set, Table())
	for _, f := range flags {
		key, text, _ := strings.Cut(f, "=")
		if err := set.Set(Table().Find(key).Flag(), text); err != nil {
			t.Fatal(err)
		}
	}
	path := ""
	if file != "" {
		t.Chdir(t.TempDir())
		path = "s.toml"
		if err := os.WriteFile(filepath.Join(".", path), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Read(layer, path)
}

func problems(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*settings.Invalid](err)
	if !ok {
		t.Fatalf("%T: %v", err, err)
	}
	return invalid.Problems
}

func TestEveryParameterIsComplete(t *testing.T) {
	switches := []string{"ask_before_run", "one_site", "beside_hook"}
	var keys []string
	for _, p := range Table() {
		switch {
		case slices.Contains(keys, p.Key):
			t.Errorf("%s is there twice", p.Key)
		case (&settings.FlagValue{Setting: p}).Type() == "" && !slices.Contains(switches, p.Key) || p.Group == "":
			t.Errorf("%s has no placeholder or no group", p.Key)
		case !strings.HasSuffix(p.Help, "."):
			t.Errorf("the help of %s is no sentence: %q", p.Key, p.Help)
		case p.Needs != "" && !slices.Contains(keys, p.Needs):
			t.Errorf("%s needs %s, which does not come before it", p.Key, p.Needs)
		}
		keys = append(keys, p.Key)
	}
}

// samples have a value for every parameter but slots, as in a file, that is neither a default nor equal to another one.
// A gate that keeps grants has one slot.
const samples = `
policy = "wander"
walk = "shuffle"
op = "5s"
op_configured = "6s"
skip = "2s"
min_interval = "11m"
retry_after = "12m"
window = "Mon..Fri 22:00-06:00 UTC"
max_interval = "1h"
backups = 3
on_lost = "stop"
keep = "15m"
soak = "20s"
unhealthy = "9%"
max_down = 5
first = "2,50"
first_wait = "2h"
demand = "13m"
beside_hook = true
members = 149
duration = "2d"
seed = 7
seeds = 3
op_jitter = "3s"
fails = "5%"
not_now = "6%"
reboot_takes = "4m"
reboot_fails = "8%"
ready_no = "7%"
latency = "2ms"
jitter = "3ms"
loss = "1%"
duplicate = 0.02
broken_links = 0.03
distant = 4
away = "700ms"
one_site = true
detect_after = "11s"
lose_token_every = "6h"
crash_every = "7d"
down_for = "2m"
pause_every = "8d"
pause_for = "31s"
partition_at = "1d"
partition_for = "61m"
partition_share = "30%"
clock_skew = "4s"
ask_before_run = true
save_takes = "20ms"
slow_saves = "4%"
slow_save_for = "6s"
`

func TestEveryParameterComesFromFileAndFlagAlike(t *testing.T) {
	fromFile, err := read(t, samples)
	if err != nil {
		t.Fatal(err)
	}
	var flags []string
	for line := range strings.Lines(samples) {
		if key, text, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			flags = append(flags, key+"="+strings.Trim(text, `"`))
		}
	}
	if all := new(Parameters).wanderTable(); len(flags) != len(all)-1 {
		t.Fatalf("%d of %d parameters are tried", len(flags), len(all))
	}
	fromFlags, err := read(t, "", flags...)
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := read(t, "")
	if err != nil {
		t.Fatal(err)
	}
	ofFlags, ofNobody := fromFlags.wanderTable(), defaults.wanderTable()
	for i, s := range fromFile.wanderTable() {
		a, b, d := s.Value.Plain(), ofFlags[i].Value.Plain(), ofNobody[i].Value.Plain()
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s is %v in a file and %v as a flag", s.Key, a, b)
		}
		if reflect.DeepEqual(a, d) && s.Key != "policy" && s.Key != "slots" {
			t.Errorf("%s is not set: %v", s.Key, a)
		}
	}
	// Values that are set reach the simulator.
	a, b := fromFile.World(), fromFlags.World()
	if a.String() != b.String() || strings.Count(a.String(), "\n") < len(flags)-4 {
		t.Errorf("%s\n%s", a.String(), b.String())
	}
	// On demand the callers repeat what failed, and no member has a ready check.
	onDemand := fromFile
	onDemand.BesideHook = false
	a = onDemand.World()
	if a.RetryAfter != 0 || a.Ready != (sim.Ready{}) {
		t.Errorf("on demand a failed run is repeated after %v, and hosts are asked: %+v", a.RetryAfter, a.Ready)
	}
}

func TestFlagsWinOverTheFile(t *testing.T) {
	p, err := read(t, "op = \"5s\"\nskip = \"2s\"\n", "op=6s")
	if err != nil || p.Op != 6*time.Second || p.Skip != 2*time.Second || p.MinInterval != 10*time.Minute {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestMaxIntervalFollowsTheRuleOfTheAgent(t *testing.T) {
	for want, flags := range map[time.Duration][]string{
		30 * time.Minute: {"members=10"},
		time.Hour:        {"members=300"},
		2 * time.Hour:    {"members=300", "op_configured=8s"},
		15 * time.Minute: {"max_interval=15m"},
	} {
		if p, err := read(t, "", flags...); err != nil || p.MaxInterval != want {
			t.Errorf("%v: %v, %v", flags, p.MaxInterval, err)
		}
	}
}

func TestEachImpossibleParameterHasASentence(t *testing.T) {
	for _, c := range []struct {
		file  string
		flags []string
		want  []string
	}{
		{flags: []string{"op=5s", "min_interval=4s"}, want: []string{
			"min_interval 4s (--min-interval) is below op 5s (--op), so a member would be due again before it has " +
				"finished: " +
				"raise min_interval or lower op",
		}},
		{flags: []string{"max_down=2", "slots=3"}, want: []string{
			"max_down 2 (--max-down) is less than slots 3 (--slots): nobody could start beside those that may run " +
				"under the other tokens",
		}},
		{flags: []string{"first=100,50"}, want: []string{
			"first 100,50 (--first) leaves none of members 150 (default) for the last stage",
		}},
		{flags: []string{"first=1,2,3"}, want: []string{
			"first 1,2,3 (--first) is not one number of members or two, as in 2,50",
		}},
		{flags: []string{"first=1", "demand=1h"}, want: []string{
			"first 1 (--first) orders the members' own operations, and with demand 1h (--demand) they have none: " +
				"add beside_hook",
		}},
		{flags: []string{"max_down=1", "members=2001"}, want: []string{
			"members 2001 (--members) is more than 2000: in larger fleets neither max_down nor first can be simulated",
		}},
		{flags: []string{"max_interval=1m"}, want: []string{
			"max_interval 1m (--max-interval) is below min_interval 10m (default), so every member would take the " +
				"token for lost " +
				"between two operations: raise max_interval or lower min_interval",
		}},
		{flags: []string{"skip=0s", "seeds=0"}, want: []string{
			`--skip: "0s" must be greater than 0: leave it out for the default, 1s`,
			`--seeds: "0" is not a whole number from 1 to 100000`,
		}},
		{flags: []string{"members=1000000", "op=3d", "min_interval=300d", "max_interval=365d"}, want: []string{
			"members 1000000 (--members) and op 3d (--op) make a round of more than 50 years: lower one of them",
		}},
		{flags: []string{"slots=65", "backups=5", "on_lost=ignore"}, want: []string{
			`--slots: "65" is neither a number from 1 to 64 nor a share from 1% to 100%`,
			`--backups: "5" is not a whole number from 0 to 4`,
			`--on-lost: unknown value "ignore": choose finish or stop`,
		}},
		{file: "backups = -1\n", want: []string{`s.toml:1: backups: "-1" is not a whole number from 0 to 4`}},
		{flags: []string{"op_jitter=5s"}, want: []string{
			"op_jitter 5s (--op-jitter) is more than op 4s (default), so an operation could end before it begins: " +
				"lower op_jitter or raise op",
		}},
		{flags: []string{
			"op_jitter=much", "loss=101%", "duplicate=NaN", "broken_links=-1", "seed=-1", "members=x",
		}, want: []string{
			`--members: "x" is not a whole number from 1 to 1000000`,
			`--seed: "-1" is not a whole number from 0 to 18446744073709551615`,
			`--op-jitter: "much" is not a share: write a percentage, as in 1%, or a part of one, as in 0.01; or a ` +
				`duration, as in 1s`,
			`--loss: "101%" is not within 0% and 100%`,
			`--duplicate: "NaN" is not a share: write a percentage, as in 1%, or a part of one, as in 0.01`,
			`--broken-links: "-1" is not within 0 and 1`,
		}},
		{flags: []string{"crash_every=1ms"}, want: []string{
			`--crash-every: "1ms" is below 1s: raise it`,
		}},
		{flags: []string{"down_for=1m"}, want: []string{
			"down_for 1m (--down-for) has no effect without crash_every: give that too, or leave this out",
		}},
		{flags: []string{"partition_at=1h", "duration=1h", "partition_share=0", "partition_for=0s"}, want: []string{
			`--partition-for: "0s" must be greater than 0: leave it out for the default, 1h`,
			"partition_at 1h (--partition-at) is not before the end, duration 1h (--duration): make it earlier, or " +
				"the run longer",
			"partition_share 0% (--partition-share) leaves one part of members 150 (default) empty: choose a share " +
				"that " +
				"puts at least one member into each part",
		}},
		{flags: []string{"walk=rnadom", "policy=strict"}, want: []string{
			`--policy: unknown value "strict": choose wander, call, ring, tree, termination or election`,
			`--walk: unknown value "rnadom": did you mean "random"?`,
		}},
		{file: "memebrs = 5\nloss = true\nseed = 1.5\npolicy = 1\nop = 4\n\n[crash]\nevery = \"1s\"\n", want: []string{
			`s.toml:1: unknown key "memebrs": did you mean "members"?`,
			`s.toml:2: loss is true or false: want a share, as in 0.01 or "1%"`,
			`s.toml:3: seed is a number: want a whole number, without quotes`,
			`s.toml:4: policy is a number: want text in quotes`,
			`s.toml:5: op is a number: a duration needs a unit and quotes, as in "4s" or "4m"`,
			`s.toml:7: unknown key "crash": the keys are the flags of "wanderd sim --help", with underscores`,
		}},
		// A wrong value is reported even if a flag replaces it, and a complaint quotes the line.
		{file: "op = \"x\"\nmin_interval = \"1s\"\n", flags: []string{"op=2s"}, want: []string{
			`s.toml:1: op: "x" is not a duration: write a number with a unit, as in 90s, 10m, 1h30m or 1d`,
			"min_interval 1s (s.toml:2) is below op 2s (--op), so a member would be due again " +
				"before it has finished: raise min_interval or lower op",
		}},
	} {
		_, err := read(t, c.file, c.flags...)
		if got := problems(t, err); !slices.Equal(got, c.want) {
			t.Errorf("%v\ngot\n%s\nwant\n%s", c.flags, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// The file may contain what seems to be missing, or not to fit.
func TestNothingIsComparedWithAFileThatIsNotRead(t *testing.T) {
	layer, set := settings.Flags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	layer.AddTo(set, Table())
	if err := set.Parse([]string{"--min-interval", "1s", "--down-for", "1m", "--seeds", "x"}); err != nil {
		t.Fatal(err)
	}
	_, err := Read(layer, "missing.toml")
	want := []string{
		"the scenario missing.toml does not exist: check --scenario",
		`--seeds: "x" is not a whole number from 1 to 100000`,
	}
	if got := problems(t, err); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestJSONHasEveryParameterInOrder(t *testing.T) {
	p, err := read(t, samples)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, entry := range new(Parameters).wanderTable() {
		i := strings.Index(string(text), `"`+entry.Key+`":`)
		if i < at {
			t.Errorf("%s is missing, or not in its place", entry.Key)
		}
		at = i
	}
	if strings.Contains(string(text), "null") {
		t.Errorf("all is set: %s", text)
	}
}

func TestNeverIsNullInJSON(t *testing.T) {
	p, err := read(t, "", "crash_every=1d")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"crash_every":"1d"`, `"down_for":"1m"`, `"pause_every":null`, `"pause_for":null`, `"partition_at":null`,
		`"partition_share":null`, `"clock_skew":"0s"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
}

func TestTheMembershipIsTheMeasuredOneUnlessItIsGiven(t *testing.T) {
	given := sim.Membership{GossipAfter: 11 * time.Second, DetectAfter: 11 * time.Second, RejoinAfter: 11 * time.Second}
	for _, c := range []struct {
		flags []string
		want  sim.Membership
	}{
		{nil, sim.MeasuredMembership(150)},
		{[]string{"members=20", "crash_every=1d"}, sim.MeasuredMembership(20)},
		{[]string{"detect_after=11s"}, given},
		{[]string{"detect_after=0s"}, sim.Membership{}},
	} {
		p, err := read(t, "", c.flags...)
		if err != nil {
			t.Fatal(err)
		}
		if w := p.World(); w.Membership != c.want || !w.TokenInPlace {
			t.Errorf("%v: %+v, token in place %v", c.flags, w.Membership, w.TokenInPlace)
		}
	}
}

// Callers beside a hook leave its settings as they are.
func TestBesideAHookMinIntervalIsThatOfTheHook(t *testing.T) {
	p, err := read(t, "", "demand=1m", "beside_hook=true")
	if err != nil {
		t.Fatal(err)
	}
	if usual, err := read(t, ""); err != nil || p.MinInterval != usual.MinInterval || !p.World().Demand.Beside {
		t.Errorf("min_interval is %v, not %v; %+v; %v", p.MinInterval, usual.MinInterval, p.World().Demand, err)
	}
	if _, err := read(t, "", "beside_hook=true"); err == nil || !strings.Contains(err.Error(), "demand") {
		t.Errorf("a gate with callers and no demand: %v", err)
	}
}

func TestOnDemandThereIsNoMinIntervalUnlessItIsGiven(t *testing.T) {
	for given, want := range map[string]time.Duration{"demand=1m": 0, "demand=1m min_interval=1s": time.Second} {
		p, err := read(t, "", strings.Fields(given)...)
		if err != nil || p.MinInterval != want {
			t.Errorf("%s: min_interval is %v, not %v; %v", given, p.MinInterval, want, err)
		}
	}
}

func TestGrantsAreKeptByGuardiansOfOneToken(t *testing.T) {
	for flag, want := range map[string]string{
		"slots=2": "need a gate with one token", "slots=2%": "need a gate with one token",
		"backups=0": "need guardians",
	} {
		_, err := read(t, "", "keep=15m", flag)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", flag, err, want)
		}
	}
	if p, err := read(t, "", "keep=15m", "reboot_takes=4m", "reboot_fails=1%"); err != nil ||
		p.World().Hook.Reboots.Share != 1 || p.Call().Hook.Reboots.Late != 0.01 {
		t.Errorf("%v: %+v", err, p)
	}
}

// A share of the members reaches the simulator as one, and the figures count the tokens that it comes to.
func TestSlotsMayBeAShareOfTheMembers(t *testing.T) {
	p, err := read(t, "", "members=40", "slots=10%")
	if err != nil {
		t.Fatal(err)
	}
	world, called := p.World(), p.Call()
	if world.SlotsShare != 10 || world.Slots != 0 || called.SlotsShare != 10 || called.Slots != 0 {
		t.Errorf("%d and %d tokens, or %d %% and %d %%", world.Slots, called.Slots, world.SlotsShare, called.SlotsShare)
	}
	if n := p.Slots.Of(p.Members); n != 4 {
		t.Errorf("a tenth of 40 is %d", n)
	}
}
