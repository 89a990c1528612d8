//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// recorder is the first argument of this program when it is the command that the agents run:
//
//	chaos record JOURNAL WORK [deaf]
const recorder = "record"

// heartbeatTime is how often a command records that it is alive. The last record is the only known end of a command
// that is killed.
const heartbeatTime = 20 * time.Millisecond

// record writes into a journal when it starts and ends, and works for a while in between. Each line is one write to the
// end of the file; its clock is boot time. A witness file beside the journal is locked for as long as the process
// lives: the kernel releases the lock when the process is dead, and not before. So "beside" means that another command
// was alive at the start of this one, whatever the two have written.
func record(args []string) error {
	if len(args) < 2 {
		return errors.New("record needs a journal and a duration")
	}
	start := sinceBoot()
	journal, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	work, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	if len(args) > 2 {
		signal.Ignore(syscall.SIGTERM)
	}
	write := func(what string, at time.Duration, rest string) {
		_, err = fmt.Fprintf(journal, "%s %s %s %d %d%s\n", what, os.Getenv("WANDERD_SEQ"), os.Getenv("WANDERD_NAME"),
			os.Getpid(), at, rest)
	}
	witness, err := os.OpenFile(args[0]+".witness", os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	beside := " alone"
	if unix.Flock(int(witness.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		beside = " beside"
	}
	write("start", start, beside)
	over := time.After(work)
	for heartbeat := time.Tick(heartbeatTime); err == nil; {
		select {
		case <-heartbeat:
			write("heartbeat", sinceBoot(), "")
			continue
		case <-over:
		case <-told:
		}
		write("end", sinceBoot(), "")
		return err
	}
	return err
}

// sinceBoot returns the boot time of this machine. On a host with a time namespace, boot time differs from it by an
// offset.
func sinceBoot() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return time.Duration(now.Nano()) - bootOffset()
}

func bootOffset() time.Duration {
	offsets, _ := os.ReadFile("/proc/self/timens_offsets")
	_, boot, _ := strings.Cut(string(offsets), "boottime")
	var seconds, nanos int64
	_, _ = fmt.Sscan(boot, &seconds, &nanos)
	return time.Duration(seconds)*time.Second + time.Duration(nanos)
}
