package cli

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/bubble"
)

// A program that sends a signal twice, such as timeout(1), means one signal.
func TestEchoOfASignalIsIgnored(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		signals, second := make(chan os.Signal), make(chan os.Signal)
		go func() { second <- afterEcho(func() os.Signal { return <-signals }) }()
		signals <- syscall.SIGTERM
		time.Sleep(echo - time.Millisecond)
		signals <- syscall.SIGHUP
		time.Sleep(time.Millisecond)
		signals <- syscall.SIGINT
		if got := <-second; got != syscall.SIGINT {
			t.Errorf("the second signal is %v, want that after the echo", got)
		}
	})
}

// SIGHUP asks an agent to read its configuration again, and ends any other program.
func TestAHangupReachesTheCodeThatAsksForIt(t *testing.T) {
	h := NewHangups()
	if h.takes(syscall.SIGHUP) || (*Hangups)(nil).takes(syscall.SIGHUP) {
		t.Error("it is taken, and nobody has asked for it")
	}
	came := h.Take()
	for range 3 { // several before the first is heard are one
		if !h.takes(syscall.SIGHUP) || h.takes(syscall.SIGTERM) {
			t.Error("it takes SIGTERM, or no SIGHUP")
		}
	}
	<-came
	select {
	case <-came:
		t.Error("three are more than one")
	default:
	}
}
