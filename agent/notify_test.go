package agent

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

// The unit has a short stop timeout, which serves the rest of a killed agent. A live agent extends it by the time that
// it needs.
func TestAStopExtendsTheTimeoutOfTheServiceManager(t *testing.T) {
	addr := &net.UnixAddr{Net: "unixgram", Name: filepath.Join(t.TempDir(), "notify")}
	manager, err := net.ListenUnixgram("unixgram", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = manager.Close() }()
	t.Setenv("NOTIFY_SOCKET", addr.Name)
	(&notifier{}).stopping(25 * time.Second)
	buf := make([]byte, 100)
	_ = manager.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := manager.Read(buf)
	if want := "STOPPING=1\nEXTEND_TIMEOUT_USEC=25000000"; err != nil || string(buf[:n]) != want {
		t.Errorf("it is told %q, want %q (%v)", buf[:n], want, err)
	}
}
