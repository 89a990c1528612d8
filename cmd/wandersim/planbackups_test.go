package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/sim/plan"
)

// backupsFor runs the command with flags and returns its output.
func backupsFor(t *testing.T, flags ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newPlanBackupsCommand()
	cmd.SetArgs(flags)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// backupsAnswered is the JSON document, as a script reads it.
type backupsAnswered struct {
	Members, Crashed, K           int
	Target, Probability, Eventual float64
	AtOnce                        float64 `json:"at_once"`
	Curve                         []struct {
		K                     int
		Probability, Eventual float64
		AtOnce                float64 `json:"at_once"`
	}
}

func TestBackupsAreAsManyAsTheTargetNeeds(t *testing.T) {
	for _, tc := range []struct {
		members, crashed, target string
		count, k                 int
		eventual, atOnce         float64
	}{
		{"10000", "50%", "0.999", 5000, 22, 0.0005823, 1.162e-07},
		{"10000", "10%", "0.999", 1000, 6, 0.0008834, 9.812e-08},
		{"10000", "10%", "99.999%", 1000, 8, 8.720e-06, 9.680e-10},
		{"10000", "0.5", "0.9976", 5000, 20, 0.002337, 4.669e-07},
		{"10000", "99%", "0.999", 9900, 1092, 0.0009927, 8.843e-06},
		{"100", "50%", "0.92", 50, 8, 0.07149, 0.001317},
		// 7 % of 100 are 7 members, and 1 % of 50 is one.
		{"100", "7%", "0.999", 7, 3, 0.0008647, 8.926e-06},
		{"50", "1%", "0.999", 1, 1, 0, 0},
		{"2", "0%", "0.999", 0, 0, 0, 0},
		{"20", "50%", "1", 10, 10, 0, 0},
	} {
		text, err := backupsFor(t, "--members", tc.members, "--crashed", tc.crashed, "--target", tc.target, "--json")
		var a backupsAnswered
		if err == nil {
			err = json.Unmarshal([]byte(text), &a)
		}
		if err != nil {
			t.Errorf("%s of %s: %v", tc.crashed, tc.members, err)
			continue
		}
		if a.Crashed != tc.count || a.K != tc.k || !near(a.Eventual, tc.eventual) || !near(a.AtOnce, tc.atOnce) ||
			!near(a.Probability, 1-tc.eventual) || a.Probability < a.Target {
			t.Errorf("%s of %s, target %s: %+v", tc.crashed, tc.members, tc.target, a)
		}
		found := false
		for i, row := range a.Curve {
			found = found || row.K == a.K && row.Probability == a.Probability && row.Eventual == a.Eventual &&
				row.AtOnce == a.AtOnce
			if i > 0 && (row.K <= a.Curve[i-1].K || row.Eventual > a.Curve[i-1].Eventual ||
				row.AtOnce > a.Curve[i-1].AtOnce) {
				t.Errorf("%s of %s: %+v comes after %+v", tc.crashed, tc.members, row, a.Curve[i-1])
			}
		}
		if !found || len(a.Curve) > curvePoints+1 {
			t.Errorf("%s of %s: k = %d in a curve of %d rows: %v", tc.crashed, tc.members, a.K, len(a.Curve), found)
		}
	}
}

// near compares four digits.
func near(got, want float64) bool { return math.Abs(got-want) <= 5e-4*math.Abs(want) }

func TestBackupsAreTextWithoutJSON(t *testing.T) {
	text, err := backupsFor(t, "--members", "10000", "--crashed", "50%")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"10000 members in a ring, 5000 of them crash: 22 backups.\n", "survives         0.999418 ",
		"lost eventually  0.0005823 ",
		"lost at once     1.162e-07 ", "\n22   0.999418        0.0005823     1.162e-07\n",
		"─── lost eventually\n··· lost at once\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if text, err = backupsFor(t, "--members", "10", "--crashed", "0"); err != nil || strings.Count(text, "\n") != 5 {
		t.Errorf("nobody crashes: %v\n%s", err, text)
	}
}

func TestBackupsListAllErrors(t *testing.T) {
	for _, tc := range []struct {
		flags []string
		want  []string
	}{
		{nil, []string{"members is 0: say how many", "crashed is missing: say which share"}},
		{[]string{
			"--members", "20001", "--crashed", "10%", "--target", "0",
		}, []string{"from 2 to 20000", "target is 0"}},
		{
			[]string{"--members", "10", "--crashed", "85%"},
			[]string{"crashed is 85%, 9 of 10 members", "name a lower share"},
		},
		{[]string{"--members", "10", "--crashed", "100%"}, []string{"10 of 10 members"}},
	} {
		_, err := backupsFor(t, tc.flags...)
		isUsage := cli.ExitCode(err) == cli.ExitUsage
		if _, ok := errors.AsType[*plan.Impossible](err); !ok || !isUsage {
			t.Errorf("%v: %v", tc.flags, err)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v; want %q", tc.flags, err, want)
			}
		}
	}
	for _, flags := range [][]string{
		{"--members", "many"},
		{"--crashed", "50"},
		{"--crashed", "-1%"},
		{"--crashed", "half"},
		{"--target", "1.1"},
		{"--target", "NaN"},
		{"--target", "1e-9999999"},
		{"x"},
	} {
		if _, err := backupsFor(t, flags...); err == nil {
			t.Errorf("%v is accepted", flags)
		}
	}
}

func TestPlanSuggestsBackups(t *testing.T) {
	var out bytes.Buffer
	p := program{stdout: &out, stderr: &out, now: time.Now}
	if code := p.run(t.Context(), []string{"plan", "backup"}); code != cli.ExitUsage ||
		!strings.Contains(out.String(), `did you mean "backups"`) &&
			!strings.Contains(out.String(), "did you mean backups") {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}

func BenchmarkBackupsOfTenThousand(b *testing.B) {
	w := backupsRequest{members: 10_000}
	if err := errors.Join(w.crashed.Set("50%"), w.target.Set(usualTarget)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if a, err := w.answer(); err != nil || a.K != 22 {
			b.Fatal(a.K, err)
		}
	}
}
