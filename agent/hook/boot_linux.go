package hook

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns the time since this host was booted, suspensions included.
func sinceBoot() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // every Linux has it
	return time.Duration(t.Nano())
}

// bootAlarm rings at a time since boot. It is needed because the runtime's timers stand still while the host is
// suspended.
type bootAlarm struct {
	rings <-chan struct{}
	timer *os.File
	// fd is timer's descriptor. timer.Fd is not called for it, because that would make the descriptor blocking.
	fd int
}

// set makes the alarm ring at a time, and not before, and reports whether it can.
func (b *bootAlarm) set(at time.Duration) bool {
	if b.rings == nil {
		fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
		if err != nil {
			return false
		}
		rings := make(chan struct{}, 1)
		b.rings, b.timer, b.fd = rings, os.NewFile(uintptr(fd), "boot alarm"), fd
		go ring(b.timer, rings)
	}
	return unix.TimerfdSettime(b.fd, unix.TFD_TIMER_ABSTIME,
		&unix.ItimerSpec{Value: unix.NsecToTimespec(max(int64(at), 1))}, nil) == nil
}

// ring sends a signal each time that the timer expires.
func ring(timer *os.File, rings chan<- struct{}) {
	for count := make([]byte, 8); ; {
		if _, err := timer.Read(count); err != nil {
			return
		}
		select {
		case rings <- struct{}{}:
		default: // the last signal has not been received yet
		}
	}
}

// remove ends the alarm, if it was ever set.
func (b *bootAlarm) remove() { _ = b.timer.Close() }
