//go:build linux

package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Host is where one agent runs, with its guards, its callers and their commands.
type Host struct {
	Name, Addr string
	// Log is the path of the agent's log, of all its lives.
	Log string

	fleet *Fleet
	flags []string
	state string
	// enter is the command that runs another one on this host.
	enter []string
	// mark is in the environment of every process that runs on this host.
	mark string

	mu    sync.Mutex
	agent *exec.Cmd
	ended chan struct{}
}

// Socket is the agent's control socket.
func (h *Host) Socket() string { return filepath.Join(h.state, "wanderd.sock") }

// Start starts the agent, unless it runs already.
func (h *Host) Start() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.agent != nil {
		return nil
	}
	args := []string{
		"--config", h.fleet.File("wanderd.toml"), "--name", h.Name, "--state-dir", h.state, "--bind", h.Addr,
		"--log-format", "json", "--log-level", "debug",
	}
	if !h.fleet.settings.Clear {
		args = append(args, "--secret-file", h.fleet.File("secret"))
	}
	for _, other := range h.fleet.Hosts {
		if other != h {
			args = append(args, "--join", other.Addr)
		}
	}
	log, err := os.OpenFile(h.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := h.Command(h.fleet.settings.Program, append(args, h.flags...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	h.agent, h.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(h.ended)
	return nil
}

// Command returns a program to run on this host. It ends with this process. It has a process group of its own: if this
// process is in an orphaned group, as under a service manager, the kernel hangs up the whole group as soon as one of
// its processes ends while another one is stopped.
func (h *Host) Command(program string, args ...string) *exec.Cmd {
	argv := slices.Concat(h.enter, []string{program}, args)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.SysProcAttr = append(os.Environ(), h.mark),
		&syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return cmd
}

// Wanderd returns a command of wanderd to run on this host, for its agent.
func (h *Host) Wanderd(command string, args ...string) *exec.Cmd {
	return h.Command(h.fleet.settings.Program, append([]string{command, "--state-dir", h.state}, args...)...)
}

// PID returns the process number of the agent, which must run.
func (h *Host) PID() int { return h.agent.Process.Pid }

// Signal sends the agent a signal, if it runs.
func (h *Host) Signal(sig syscall.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.agent != nil {
		_ = h.agent.Process.Signal(sig)
	}
}

// Kill ends the agent by SIGKILL, and nothing else on its host.
func (h *Host) Kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.agent == nil {
		return
	}
	_ = h.agent.Process.Kill()
	<-h.ended
	h.agent = nil
}

// SignalAll sends a signal to the processes of the host that have the given argument.
func (h *Host) SignalAll(arg string, sig syscall.Signal) {
	for pid, args := range h.processes() {
		if slices.Contains(args, arg) {
			_ = syscall.Kill(pid, sig)
		}
	}
}

// PowerCut ends every process of the host at once.
func (h *Host) PowerCut() {
	for pid := range h.processes() {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // no process sees another one die
	}
	for alive := h.processes(); len(alive) > 0; alive = h.processes() {
		for pid := range alive {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	h.Kill()
}

// processes returns the numbers and arguments of all processes of the host that have not ended: each has inherited the
// host's mark. The environment of a zombie is empty.
func (h *Host) processes() map[int][]string {
	all := map[int][]string{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !slices.Contains(strings.Split(string(environ), "\x00"), h.mark) {
			continue
		}
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		all[pid] = strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00")
	}
	return all
}

// Forget removes what the agent has saved about its gate, but neither its key nor its roster.
func (h *Host) Forget() error { return os.Remove(filepath.Join(h.state, "gate-"+GateName+".json")) }
