package plan

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
)

func nightRequest() Request {
	return Request{
		Members: 20, Op: 3 * time.Minute, Every: 24 * time.Hour, Walk: wander.Sweep, Backups: 2, Slots: 1, Seed: 1,
	}
}

func firstNight(t *testing.T, w Request) Timeline {
	t.Helper()
	n, err := FirstNight(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Every member is due at the beginning and runs once in turn, one after the other, with no gaps worth mentioning.
func TestInAFirstNightEverybodyRunsOnce(t *testing.T) {
	n := firstNight(t, nightRequest())
	runs := make(map[int]int)
	var last time.Duration
	for _, r := range n.Runs {
		runs[r.Member]++
		if r.Begin < last || r.End <= r.Begin || r.End > n.Lasts {
			t.Errorf("%+v after %s", r, last)
		}
		last = r.End
	}
	if len(runs) != 20 || len(n.Runs) != 20 || n.Lasts != nightLasts {
		t.Errorf("%d runs on %d members in %s", len(n.Runs), len(runs), n.Lasts)
	}
	if round := 20 * 3 * time.Minute; last > round*5/4 {
		t.Errorf("the round took %s, want about %s", last, round)
	}
}

func TestWithThreeTokensTheRoundTakesAThird(t *testing.T) {
	w := nightRequest()
	w.Members, w.Slots = 40, 3
	n := firstNight(t, w)
	last, third := n.Runs[len(n.Runs)-1].End, 40*3*time.Minute/3
	if _, most, ran := n.load(); most < 3 || ran != 40 || last > third*5/4 {
		t.Errorf("at most %d at once, %d have run until %s", most, ran, last)
	}
}

// With windows the night begins when they open, and no member begins a run after they have closed.
func TestANightWithWindowsIsThatOfTheWindows(t *testing.T) {
	w := nightRequest()
	w.Members, w.Every = 80, 23*time.Hour
	night22, err := window.Parse("22:00-01:00 Europe/Berlin", time.LoadLocation)
	if err != nil {
		t.Fatal(err)
	}
	w.Windows = window.Set{night22}
	n := firstNight(t, w)
	if n.Begins.Format("15:04 MST") != "22:00 CEST" || n.Open != 3*time.Hour || n.Lasts <= n.Open || len(n.Runs) < 50 {
		t.Errorf("from %s, open for %s of %s, %d runs", n.Begins, n.Open, n.Lasts, len(n.Runs))
	}
	for _, r := range n.Runs {
		if r.Begin < 0 || r.Begin > n.Open {
			t.Errorf("%+v", r)
		}
	}
	var b strings.Builder
	if err := n.SVG(&b); err != nil || strings.Count(b.String(), `class="closed"`) != 1 ||
		!strings.Contains(b.String(), ">22:00<") {
		t.Errorf("%v: %.2000s", err, b.String())
	}
}

func TestANightOfAnOverloadedFleetIsBusyAllTheTime(t *testing.T) {
	w := nightRequest()
	w.Members = 400
	n := firstNight(t, w)
	if busy, most, ran := n.load(); busy < 0.98 || most != 1 || ran > 260 || n.Runs[len(n.Runs)-1].End > nightLasts {
		t.Errorf("busy %.3f, at most %d at once, %d have run", busy, most, ran)
	}
}

func TestTheLoadOfANight(t *testing.T) {
	n := Timeline{Lasts: 10, Constants: Constants{Slots: 1}, Runs: []TimelineRun{{0, 0, 4}, {1, 2, 6}, {0, 6, 7}}}
	if busy, most, ran := n.load(); busy != 0.7 || most != 2 || ran != 2 {
		t.Errorf("busy %v, at most %d at once, %d have run", busy, most, ran)
	}
}

func TestTheSameRequestHasTheSameNight(t *testing.T) {
	var first, again bytes.Buffer
	a, b := firstNight(t, nightRequest()), firstNight(t, nightRequest())
	if err := errors.Join(a.SVG(&first), b.SVG(&again)); err != nil || !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Errorf("two nights of one request differ, %v", err)
	}
}

// The picture is well-formed, has every run, and fits, even with no run, or with more members than rows.
func TestThePictureOfANight(t *testing.T) {
	big := Timeline{Request: nightRequest(), Constants: Constants{Slots: 1}, Begins: time.Unix(0, 0).UTC().
		Add(nightBegins), Lasts: nightLasts, Open: nightLasts}
	for i := range 3 * maxRows {
		at := time.Duration(i) * nightLasts / (3 * maxRows)
		big.Runs = append(big.Runs, TimelineRun{Member: i, Begin: at, End: at + time.Second})
	}
	for name, n := range map[string]Timeline{
		"usual": firstNight(t, nightRequest()), "empty": {Request: nightRequest(), Constants: Constants{Slots: 1}},
		"big": big,
		"short": {
			Request: nightRequest(), Constants: Constants{Slots: 1}, Lasts: time.Minute,
			Runs: []TimelineRun{{3, time.Second, time.Minute}},
		},
	} {
		var b strings.Builder
		if err := n.SVG(&b); err != nil {
			t.Fatal(err)
		}
		rects := 0
		decoder := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "rect" {
				rects++
			}
		}
		if n.Open < n.Lasts {
			rects--
		}
		if rects != len(n.Runs) || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s: %d runs drawn of %d", name, rects, len(n.Runs))
		}
		if _, rows := n.rows(maxRows); rows > maxRows {
			t.Errorf("%s: %d rows", name, rows)
		}
	}
	var b strings.Builder
	_ = big.SVG(&b)
	if !strings.Contains(b.String(), ">20:00<") || !strings.Contains(b.String(), ">08:00<") ||
		!strings.Contains(b.String(), "<title>member 1: 20:00:00 to 20:00:01</title>") {
		t.Errorf("%.2000s", b.String())
	}
}

func TestANightOfAnImpossibleRequestIsRefused(t *testing.T) {
	w := nightRequest()
	w.Members = 0
	if _, err := FirstNight(t.Context(), w); err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FirstNight(ctx, nightRequest()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
