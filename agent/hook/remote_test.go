package hook

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// far is the other end of a connection on which an agent grants a command.
type far struct {
	net.Conn
	t         *testing.T
	documents *json.Decoder
}

func newRemote(t *testing.T) (*Remote, far) {
	t.Helper()
	agent, caller := net.Pipe()
	t.Cleanup(func() { _, _ = agent.Close(), caller.Close() })
	_ = caller.SetDeadline(time.Now().Add(patience))
	return NewRemote(agent), far{caller, t, json.NewDecoder(caller)}
}

func (f far) hears() (next instruction) {
	f.t.Helper()
	if err := f.documents.Decode(&next); err != nil {
		f.t.Fatal(err)
	}
	return next
}

func (f far) says(r report) {
	f.t.Helper()
	if err := r.write(f); err != nil {
		f.t.Fatal(err)
	}
}

// grants makes an agent grant the command, to be started within a time.
func grants(r *Remote, within time.Duration) <-chan error {
	ended := make(chan error, 1)
	go func() {
		run, err := r.Start(Spec{
			Argv: []string{"x"}, Env: []string{"A=b"}, Limits: Limits{Timeout: time.Hour, Until: 7, Grace: 3},
		}, time.Now().Add(within))
		if err == nil {
			run.Stop()
			err = (<-run.Done()).Err
		}
		ended <- err
	}()
	return ended
}

func TestARemoteCommandBeginsAtTheAgentsWordAlone(t *testing.T) {
	r, f := newRemote(t)
	ended := grants(r, patience)
	if g := f.hears().Grant; g == nil || len(g.Env) != 1 || g.Timeout != time.Hour || g.Until != 7 || g.Grace != 3 {
		t.Errorf("it is granted %+v", g)
	}
	f.says(report{Ready: true})
	next := f.hears()
	if !next.Go {
		t.Errorf("it is told %+v", next)
	}
	for !next.Stop { // in the same document, perhaps
		next = f.hears()
	}
	f.says(report{Pid: 5})
	f.says(report{Pid: 5, Over: true, Reaped: true, Status: 3 << 8})
	if err := <-ended; err == nil || err.Error() != "exit status 3" {
		t.Error(err)
	}
}

func TestARemoteCommandThatIsNotReadyInTimeDoesNotBegin(t *testing.T) {
	r, f := newRemote(t)
	if err := <-grants(r, time.Millisecond); !errors.Is(err, ErrLate) {
		t.Error(err)
	}
	f.says(report{Ready: true}) // too late: the word to start does not come, and perhaps not even the grant
	_ = f.SetDeadline(time.Now().Add(50 * time.Millisecond))
	for {
		var next instruction
		if f.documents.Decode(&next) != nil {
			return
		}
		if next.Go {
			t.Fatalf("it is told %+v", next)
		}
	}
}

func TestARemoteCommandWhoseConnectionEndsIsOver(t *testing.T) {
	for _, ready := range []bool{false, true} {
		r, f := newRemote(t)
		ended := grants(r, patience)
		f.hears()
		if ready {
			f.says(report{Ready: true})
			f.hears()
		}
		_ = f.Close()
		<-r.Gone()
		if err := <-ended; err == nil || errors.Is(err, ErrLate) == ready {
			t.Errorf("ready: %v; it ends with %v", ready, err)
		}
	}
}

func TestVariablesOfAGrantAreReplacedInACallersEnvironment(t *testing.T) {
	got := under([]string{
		"PATH=/bin", "WANDERD_SEQ=1", "WANDERD_DEADLINE=5", "WANDERD_SOCKET=/s", "NOTIFY_SOCKET=/n",
	}, []string{"WANDERD_SEQ=2"})
	want := []string{"PATH=/bin", "WANDERD_SOCKET=/s", "NOTIFY_SOCKET=/n", "WANDERD_SEQ=2"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTheCodeOfAnEndIsThatOfAShell(t *testing.T) {
	for status, want := range map[syscall.WaitStatus]int{0: 0, 3 << 8: 3, 9: 128 + 9, 15: 128 + 15, 34: 128 + 34} {
		r := report{Over: true, Reaped: true, Status: status}
		if got := r.result(Spec{Argv: []string{"x"}}, 0); got.Code != want {
			t.Errorf("%#x: %d, want %d", uint32(status), got.Code, want)
		}
	}
	if got := (&report{GuardDied: true}).result(Spec{Argv: []string{"x"}}, 0); got.Code != -1 {
		t.Errorf("%+v", got)
	}
}

// flood is a caller that sends the same without an end, and counts how much of it is read.
type flood struct {
	text []byte
	read int
}

func (f *flood) Read(b []byte) (n int, err error) {
	if f.read > 1<<26 {
		return 0, io.EOF
	}
	for n < len(b) {
		n += copy(b[n:], f.text)
	}
	f.read += n
	return n, nil
}

func (f *flood) Write(b []byte) (int, error) { return len(b), nil }

func TestACallerThatSaysTooMuchIsGone(t *testing.T) {
	for _, text := range []string{`[`, `"`, ` `, `{"ready":true}`, `{"ready":true,"x":[`, "[[[[[[[["} {
		f := &flood{text: []byte(text)}
		<-NewRemote(f).Gone()
		if f.read > 2*maxReports {
			t.Errorf("%d bytes of %q were read", f.read, text)
		}
	}
}

func TestALifelineThatSaysTooMuchHasEnded(t *testing.T) {
	for _, text := range []string{`"`, ` `, `{"stop":[`} {
		f := &flood{text: []byte(text)}
		told := make(chan instruction)
		go readLifeline(f, told)
		for range told {
		}
		if f.read > 2*maxInstruction {
			t.Errorf("%d bytes of %q were read", f.read, text)
		}
	}
}
