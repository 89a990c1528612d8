package agent

import (
	"runtime"
	"testing"
)

func TestTheKernelKnowsItsBoot(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no other system is asked")
	}
	one, other := thisBoot()(), thisBoot()()
	if one.id == "" || one.id != other.id || one.up <= 0 || other.up < one.up {
		t.Errorf("%+v, and then %+v", one, other)
	}
}
