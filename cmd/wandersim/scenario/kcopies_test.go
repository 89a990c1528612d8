package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestARingThatDecidesHasItsOwnParameters(t *testing.T) {
	p, err := read(t, "",
		strings.Fields("policy=termination members=30 backups=7 work=12 op=2s jitter=1ms detect_after=3s")...)
	if err != nil {
		t.Fatal(err)
	}
	w := p.Deciding()
	if w.Members != 30 || w.K != 7 || !w.FIFO || w.Jitter != time.Millisecond || w.Detect != 3*time.Second ||
		p.Work != 12 || p.Op != 2*time.Second {
		t.Errorf("%+v", w)
	}
	if p, err = read(t, "", "policy=election"); err != nil {
		t.Fatal(err)
	}
	if w = p.Deciding(); w.Members != 20 || w.K != 2 || w.Detect != time.Second || w.Duration != time.Hour {
		t.Errorf("%+v", w)
	}
}

func TestARingThatDecidesNeedsRoomForItsCopies(t *testing.T) {
	_, err := read(t, "", "policy=election", "members=5", "backups=4")
	want := []string{"backups 4 (--backups) must be at most members 5 (--members) less 2: k copies go to k members " +
		"behind the next holder"}
	if got := problems(t, err); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
