package beyond

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
)

func at(seconds float64) policy.Time { return policy.Time(seconds * float64(time.Second)) }

func TestATokenThatIsHandedOnInTimeIsOneTokenAllTheTime(t *testing.T) {
	h := newHolders(3)
	h.set(at(10), 0, 1)
	h.set(at(20), 0, 0)
	if !h.one(at(20.5), 10*time.Second) {
		t.Error("a token on its way is taken for none")
	}
	h.set(at(21), 1, 1)
	if !h.one(at(30), 20*time.Second) || h.one(at(30), 21*time.Second) {
		t.Error("there has been one token from 10 to 30")
	}
}

func TestAGapLongerThanAHandoffBeginsANewPeriod(t *testing.T) {
	h := newHolders(3)
	h.set(at(10), 0, 1)
	h.set(at(20), 0, 0)
	if h.one(at(21.5), 0) {
		t.Error("there is no token")
	}
	h.set(at(22), 1, 1)
	if !h.one(at(30), 8*time.Second) || h.one(at(30), 9*time.Second) {
		t.Error("there has been one token from 22 to 30")
	}
}

func TestTwoHoldersAreNotOneTokenAndNobodyIsTheOnlyOne(t *testing.T) {
	h := newHolders(3)
	h.set(at(10), 0, 1)
	if who, ok := h.only(); !ok || who != 0 {
		t.Errorf("the only holder is %d, %v", who, ok)
	}
	h.set(at(20), 2, 1)
	if _, ok := h.only(); ok || h.one(at(25), 0) {
		t.Error("two hold a token")
	}
	h.set(at(30), 0, 0)
	if who, ok := h.only(); !ok || who != 2 || !h.one(at(35), 5*time.Second) || h.one(at(35), 6*time.Second) {
		t.Errorf("the only holder is %d, %v; there has been one token from 30 to 35", who, ok)
	}
}
