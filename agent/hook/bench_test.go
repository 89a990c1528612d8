package hook

import (
	"os/exec"
	"testing"
	"time"
)

// BenchmarkRun compares a guarded operation with a bare child process: the difference is what the guard costs.
func BenchmarkRun(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("guarded", func(b *testing.B) {
		for b.Loop() {
			run, err := Start(Spec{Argv: []string{"/bin/true"}, Limits: Limits{Timeout: time.Minute}})
			if err != nil {
				b.Fatal(err)
			}
			if r := <-run.Done(); r.Err != nil {
				b.Fatal(r.Err)
			}
		}
	})
	b.Run("start", func(b *testing.B) { // what the agent's loop waits for
		for b.Loop() {
			run, err := Start(Spec{Argv: []string{"/bin/true"}, Limits: Limits{Timeout: time.Minute}})
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			<-run.Done()
			b.StartTimer()
		}
	})
}
