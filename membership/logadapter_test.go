package membership

import (
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/membership/peertest"
)

func nobody(string) {}

// writeLines writes lines through the queue and a goroutine that runs a.
func writeLines(a *logAdapter, lines ...string) {
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		a.run(stop)
		close(done)
	}()
	for _, line := range lines {
		_, _ = a.Write([]byte(line + "\n"))
		bubble.Wait()
	}
	close(stop)
	<-done
}

func TestLinesKeepTheirLevelWithoutTheirPrefix(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := &peertest.Logs{}
		writeLines(newLogAdapter(zerolog.New(l), nobody, func() {}),
			"[DEBUG] memberlist: one", "[INFO] memberlist: two", "[WARN] memberlist: three", "[ERR] memberlist: four",
			"[ERROR] memberlist: five", "Err: six")
		for text, level := range map[string]string{
			"one": "debug", "two": "debug", "three": "warn", "four": "warn", "five": "warn", "Err: six": "warn",
		} {
			if len(l.With(level, `"message":"`+text+`"`)) != 1 {
				t.Errorf("%q was not written as %s: %s", text, level, l.Lines)
			}
		}
	})
}

func TestWarningsOfOneKindAreWrittenOnceInAWhile(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := &peertest.Logs{}
		a := newLogAdapter(zerolog.New(l), nobody, func() {})
		for i := range 100 {
			writeLines(a, fmt.Sprintf("[ERR] memberlist: Failed to send ack: no route from=10.0.0.%d:7946", i))
			writeLines(a,
				fmt.Sprintf("[WARN] memberlist: Was able to connect to web%d~ab over TCP but UDP probes failed", i))
		}
		if n := len(l.Lines); n != 2 {
			t.Errorf("%d lines of two kinds", n)
		}
		if len(l.With("warn", "held_back")) != 0 {
			t.Errorf("it says that something was held back before: %s", l.Lines)
		}
		time.Sleep(logEvery)
		writeLines(a, "[ERR] memberlist: Failed to send ack: no route from=10.0.0.1:7946")
		if len(l.With("warn", `"held_back":99`)) != 1 {
			t.Errorf("it does not say how many were held back: %s", l.Lines)
		}
	})
}

func TestKindsOfLinesAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := &peertest.Logs{}
		a := newLogAdapter(zerolog.New(l), nobody, func() {})
		kind := "x"
		for range 10 * logClasses {
			kind += "x"
			writeLines(a, "[ERR] memberlist: "+kind)
		}
		if len(a.classes) > logClasses+1 || len(l.Lines) > logClasses+1 {
			t.Errorf("%d kinds and %d lines", len(a.classes), len(l.Lines))
		}
	})
}

func TestWriterNeverWaitsForTheLog(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a := newLogAdapter(zerolog.Nop().Level(zerolog.DebugLevel), nobody, func() {}) // and nobody runs it
		for range 2 * logQueue {
			if _, err := a.Write([]byte("[WARN] memberlist: flood")); err != nil {
				t.Fatal(err)
			}
		}
		if a.lost.Load() != logQueue {
			t.Errorf("%d lines are counted as lost", a.lost.Load())
		}
	})
}

func TestProblemsThatMemberlistOnlyLogsAreReported(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var suspected string
		refuted := 0
		l := &peertest.Logs{}
		a := newLogAdapter(zerolog.New(l).Level(zerolog.WarnLevel), func(s string) { suspected = s }, func() {
			refuted++
		})
		writeLines(a, "[INFO] memberlist: Suspect web 1~00ff has failed, no acks received")
		if suspected != "web 1~00ff" || len(l.Lines) != 0 {
			t.Errorf("suspected %q, written: %s", suspected, l.Lines)
		}
		writeLines(a, "[WARN] memberlist: Refuting a suspect message (from: web 1~00ff)")
		if refuted != 1 {
			t.Errorf("refuted %d times, want once", refuted)
		}
	})
}
