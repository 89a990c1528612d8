package hook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAHookSeesTheGrantAndNothingMeantForTheAgent(t *testing.T) {
	base := []string{
		"PATH=/bin", "NOTIFY_SOCKET=/run/systemd/notify", "WATCHDOG_PID=1", "WATCHDOG_USEC=1", "LISTEN_PID=1",
		"LISTEN_FDS=1", "LISTEN_FDNAMES=x", "CREDENTIALS_DIRECTORY=/run/credentials", "WANDERD_SECRET_FILE=/etc/secret",
		"WANDERD_SEQ=666", "WANDERD_HELD=0", "LISTEN=kept", "WANDERDX=kept", "EMPTY=", "odd",
	}
	got := Environ(base, "WANDERD_HELD=1", "WANDERD_SEQ=7")
	want := []string{"PATH=/bin", "LISTEN=kept", "WANDERDX=kept", "EMPTY=", "odd", "WANDERD_HELD=1", "WANDERD_SEQ=7"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
