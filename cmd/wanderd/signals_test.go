package main

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A program that sends a signal twice, such as timeout(1), means it once.
func TestEchoOfASignalIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals, second := make(chan os.Signal), make(chan os.Signal)
		go func() { second <- afterEcho(signals) }()
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
