package wire

import "testing"

func host(n byte) MemberID { return MemberID{n} }

func TestAHostIsInTheListOnce(t *testing.T) {
	var f Failures
	f.Add(host(1), 3)
	f.Add(host(2), 4)
	f.Add(host(1), 5)
	if f.Len() != 2 || f.Hosts[0] != host(1).Hint() || f.Exits[0] != 5 || f.Exits[1] != 4 || f.Stamp != 3 {
		t.Errorf("%+v", f)
	}
}

func TestAFullListForgetsTheOldest(t *testing.T) {
	var f Failures
	for n := range byte(MaxFailures + 1) {
		f.Add(host(n+1), n+1)
	}
	if f.Len() != MaxFailures || f.Hosts[0] != host(2).Hint() || f.Exits[MaxFailures-1] != MaxFailures+1 {
		t.Errorf("%+v", f)
	}
}

func TestAnEmptiedListIsNewer(t *testing.T) {
	var f Failures
	f.Add(host(1), 1)
	before := f
	f.Clear()
	if f.Len() != 0 || f.Compare(&before) <= 0 {
		t.Errorf("%+v after %+v", f, before)
	}
}

func TestListsOfOneStampHaveAnOrder(t *testing.T) {
	var f, g Failures
	f.Add(host(1), 1)
	g.Add(host(2), 1)
	if f.Compare(&g) >= 0 || g.Compare(&f) <= 0 || f.Compare(&f) != 0 {
		t.Errorf("%d, %d", f.Compare(&g), g.Compare(&f))
	}
}
