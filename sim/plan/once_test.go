package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func onceADay(members int) OnceRequest {
	return OnceRequest{Members: members, Op: time.Minute, Every: 24 * time.Hour, Backups: 2, Seed: 1}
}

// The figures in this file come from simulations, so they change with the machines. "go test ./sim/plan -update"
// rewrites it; read what has changed.
func TestAPlanForOneRunInEachIntervalReadsWell(t *testing.T) {
	w := onceADay(40)
	w.FailsEvery, w.DownFor = 30*24*time.Hour, time.Hour
	a, err := ForOnce(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := a.Text(&b); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "once.txt")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
	if text, err := json.Marshal(a); err != nil || !bytes.Contains(text, []byte(`"every_s":86400`)) {
		t.Errorf("%s, %v", text, err)
	}
}

// Where no host fails, each interval has one run; one whose host dies has another one soon.
func TestALostTokenCostsASecondRun(t *testing.T) {
	a, err := ForOnce(t.Context(), onceADay(10))
	if err != nil {
		t.Fatal(err)
	}
	if e := &a.Expected; e.Twice != 0 || e.Simulated.Operations < e.Intervals*9/10 || e.Late.P99 > 60 {
		t.Errorf("%+v", e)
	}
	if a.Dies.P50 <= 0 || a.Dies.Longest > 60 || a.Cut.Twice == 0 || a.Cut.Twice > a.Cut.Intervals {
		t.Errorf("dies %+v, in two halves %+v", a.Dies, a.Cut)
	}
}

func TestAnImpossiblePlanForOneRunHasSentences(t *testing.T) {
	w := onceADay(1)
	w.Op, w.Backups, w.DownFor = 48*time.Hour, 0, time.Hour
	_, err := ForOnce(t.Context(), w)
	of, ok := errors.AsType[*Impossible](err)
	if !ok {
		t.Fatal(err)
	}
	for _, want := range []string{"members is 1", "op is 48h", "backups is 0", "fails_every and down_for"} {
		if !strings.Contains(strings.Join(of.Problems, "\n"), want) {
			t.Errorf("%q is missing in %q", want, of.Problems)
		}
	}
}
