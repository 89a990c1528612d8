package hosts_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// host is a booted container: systemd, a /usr of its own that begins as this machine's, and an address in the fleet's
// network.
type host struct {
	name, address, root string
	// container is what runs it, and running the number of that process; console is what it prints, and namespace its
	// network.
	container *exec.Cmd
	running   atomic.Int64
	console   *os.File
	namespace string
	// groups are its control groups.
	groups []string
}

// boot makes and boots hosts. Everything of them is gone with the test.
func boot(t *testing.T, network *network, hosts int) (fleet []*host) {
	t.Helper()
	for i := range hosts {
		fleet = append(fleet, furnished(t, network, i+1))
	}
	for _, h := range fleet {
		must(t, h.start())
	}
	for _, h := range fleet {
		if !within(3*time.Minute, h.isBooted) {
			text, _ := os.ReadFile(h.console.Name())
			t.Skipf("containers do not boot here: %s", lastLines(text, 5))
		}
	}
	return fleet
}

// furnished makes a host that is off.
func furnished(t *testing.T, network *network, number int) *host {
	t.Helper()
	name := fmt.Sprintf("host%d", number)
	h := &host{name: name, address: fmt.Sprintf("10.83.0.%d", number), root: filepath.Join(network.dir, name)}
	network.join(t, h)
	h.furnish(t)
	h.namespace = "/run/netns/" + network.namespace(h)
	h.separate(t, network)
	log, err := os.Create(h.root + ".log")
	must(t, err)
	h.console = log
	t.Cleanup(func() {
		h.powerOff()
		_ = log.Close()
	})
	return h
}

// separate gives a host control groups of its own. Otherwise the hosts would share those of this machine, and agents
// would end each other's hooks.
func (h *host) separate(t *testing.T, network *network) {
	t.Helper()
	for _, tree := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"} {
		if _, err := os.Stat(filepath.Join(tree, "cgroup.procs")); err != nil {
			continue
		}
		group := filepath.Join(tree, network.namespace(h))
		must(t, os.Mkdir(group, 0o755))
		h.groups = append(h.groups, group)
		t.Cleanup(func() {
			within(10*time.Second, func() bool { // The host's processes are still ending.
				return exec.Command("find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+").Run() == nil
			})
		})
	}
}

// powerOn boots a host that is off, and reports whether it comes up.
func (h *host) powerOn(t *testing.T) bool {
	t.Helper()
	must(t, h.start())
	return within(3*time.Minute, h.isBooted)
}

// start gives power to a host that is off.
func (h *host) start() error {
	h.container = exec.Command("sh", "-c", `for group in $0; do echo $$ >$group/cgroup.procs; done; exec "$@"`,
		strings.Join(h.groups, " "), "systemd-nspawn", "--quiet", "--directory="+h.root, "--register=no", "--keep-unit",
		"--network-namespace-path="+h.namespace, "--boot", "systemd.unit=multi-user.target")
	h.container.Stdout, h.container.Stderr = h.console, h.console
	if err := h.container.Start(); err != nil {
		return err
	}
	h.running.Store(int64(h.container.Process.Pid))
	return nil
}

// isBooted reports whether the host's start is over.
func (h *host) isBooted() bool {
	return h.leader() != "" && strings.TrimSpace(h.try("systemctl", "is-active", "multi-user.target")) == "active"
}

// leader is the host's first process, by its number on this machine; empty if there is none.
func (h *host) leader() string {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", h.running.Load()))
	return strings.TrimSpace(string(children))
}

// isUp reports whether the host's first process runs, and does not shut the host down.
func (h *host) isUp() bool {
	name, _ := os.ReadFile("/proc/" + h.leader() + "/comm")
	return string(name) == "systemd\n"
}

// powerOff takes the power away.
func (h *host) powerOff() {
	if h.container == nil {
		return
	}
	if pid, err := strconv.Atoi(h.leader()); err == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL) // It outlives systemd-nspawn.
	}
	_ = h.container.Process.Kill()
	_ = h.container.Wait()
}

// wantsReboot waits until the host has shut itself down for a reboot. It is off then.
func (h *host) wantsReboot(t *testing.T) {
	t.Helper()
	const reboot = 133 // systemd-nspawn leaves the reboot to its caller
	over := make(chan error, 1)
	go func() { over <- h.container.Wait() }()
	select {
	case err := <-over:
		if status, is := errors.AsType[*exec.ExitError](err); !is || status.ExitCode() != reboot {
			t.Fatalf("%s has not shut down for a reboot: %v", h.name, err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s does not reboot: %s", h.name, h.log())
	}
}

// furnish makes the root: links and copies of this machine's files, without those that start services that the host
// does not need.
func (h *host) furnish(t *testing.T) {
	t.Helper()
	upper, work := h.root+".upper", h.root+".work"
	for _, dir := range []string{
		"proc", "sys", "dev", "run", "tmp", "usr", "root", "var/lib", "var/log/journal", "var/tmp", "var/cache",
	} {
		must(t, os.MkdirAll(filepath.Join(h.root, dir), 0o755))
	}
	must(t, os.MkdirAll(upper, 0o755))
	must(t, os.MkdirAll(work, 0o755))
	for _, link := range []string{"bin", "sbin", "lib", "lib64"} {
		command(t, "cp", "-a", "/"+link, h.root)
	}
	command(t, "cp", "-a", "/etc", h.root)
	command(t, "cp", "-a", "/var/lib/dpkg", filepath.Join(h.root, "var/lib"))
	for _, path := range []string{"os-release", "resolv.conf", "machine-id", "systemd/system", "wanderd"} {
		must(t, os.RemoveAll(filepath.Join(h.root, "etc", path)))
	}
	command(t, "cp", "/usr/lib/os-release", filepath.Join(h.root, "etc"))
	h.write(t, "/etc/hostname", h.name+"\n")
	h.write(t, "/etc/machine-id", fmt.Sprintf("%032x\n", []byte(h.name)))
	must(t, os.MkdirAll(filepath.Join(h.root, "etc/systemd/system"), 0o755))
	command(t, "mount", "-t", "overlay", "overlay", "-o", "lowerdir=/usr,upperdir="+upper+",workdir="+work,
		filepath.Join(h.root, "usr"))
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", filepath.Join(h.root, "usr")).Run() })
}

// write writes a file on the host.
func (h *host) write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(h.root, path), []byte(text), 0o644))
}

// has reports whether a file is on the host.
func (h *host) has(path string) bool {
	_, err := os.Lstat(filepath.Join(h.root, path))
	return err == nil
}

// command runs a command on the host.
func (h *host) command(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{
		"--target", h.leader(), "--mount", "--uts", "--ipc", "--net", "--pid", "--",
	}, args...)...)
}

// do runs a command on the host that has to succeed, and returns its output.
func (h *host) do(t *testing.T, args ...string) string {
	t.Helper()
	out, err := h.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s\n%s", h.name, strings.Join(args, " "), err, out, h.log())
	}
	return string(out)
}

// try runs a command on the host that may fail.
func (h *host) try(args ...string) string {
	out, _ := h.command(args...).CombinedOutput()
	return string(out)
}

// wanderd runs wanderd for a host from outside, by way of its socket: a process in a host that shuts down holds that
// up.
func (h *host) wanderd(args ...string) string {
	out, _ := exec.Command(filepath.Join(h.root, "usr/bin/wanderd"), append(args, "--socket",
		filepath.Join(h.root, "var/lib/wanderd/wanderd.sock"))...).CombinedOutput()
	return string(out)
}

// log is the end of the service's log.
func (h *host) log() string {
	return h.try("journalctl", "--unit=wanderd", "--no-pager", "--output=cat", "--lines=15")
}

// journal is the whole log of the service, also while the host is off.
func (h *host) journal() string {
	out, _ := exec.Command("journalctl", "--directory="+filepath.Join(h.root, "var/log/journal"), "--unit=wanderd",
		"--no-pager", "--output=cat").CombinedOutput()
	return string(out)
}

// tail is the end of that log.
func (h *host) tail() string { return lastLines([]byte(h.journal()), 30) }

// pid is the agent's process on the host; 0 if there is none.
func (h *host) pid() int {
	n, _ := strconv.Atoi(strings.TrimSpace(h.try("systemctl", "show", "--property=MainPID", "--value", "wanderd")))
	return n
}

func (h *host) restarts() string {
	return strings.TrimSpace(h.try("systemctl", "show", "--property=NRestarts", "--value", "wanderd"))
}

// network is a bridge, and a namespace with one address for each host.
type network struct{ dir, bridge string }

func newNetwork(t *testing.T) *network {
	t.Helper()
	//nolint:usetesting // The layers of an overlay cannot lie in another overlay.
	dir, err := os.MkdirTemp("/dev/shm", "wanderd-hosts-")
	if err != nil {
		t.Skip("no memory file system for the hosts: ", err)
	}
	n := &network{dir: dir, bridge: "wh" + strconv.Itoa(os.Getpid()%1_000_000)}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	command(t, "ip", "link", "add", n.bridge, "type", "bridge")
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", n.bridge).Run() })
	command(t, "ip", "link", "set", n.bridge, "up")
	return n
}

func (n *network) namespace(h *host) string { return n.bridge + h.name }

func (n *network) join(t *testing.T, h *host) {
	t.Helper()
	ns, port := n.namespace(h), n.bridge+h.name[len("host"):]
	command(t, "ip", "netns", "add", ns)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", ns).Run() })
	command(t, "ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", ns)
	command(t, "ip", "link", "set", port, "master", n.bridge, "up")
	command(t, "ip", "-n", ns, "address", "add", h.address+"/24", "dev", "eth0")
	command(t, "ip", "-n", ns, "link", "set", "eth0", "up")
	command(t, "ip", "-n", ns, "link", "set", "lo", "up")
}

func command(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// soon waits for a condition, for a minute at most.
func soon(is func() bool) bool { return within(time.Minute, is) }

func within(most time.Duration, is func() bool) bool {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

func lastLines(text []byte, n int) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(len(lines)-n, 0):], []byte("\n")))
}

// needs skips the test where this machine cannot boot containers, or there is no package.
func needs(t *testing.T) {
	t.Helper()
	if *deb == "" {
		t.Skip("no package to install: run \"make hosts\"")
	}
	found, err := filepath.Glob(*deb)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s matches %d files, want 1", *deb, len(found))
	}
	*deb = found[0]
	if os.Getuid() != 0 {
		t.Skip("only root can boot containers")
	}
	for _, program := range []string{"systemd-nspawn", "nsenter", "ip", "dpkg"} {
		if _, err := exec.LookPath(program); errors.Is(err, exec.ErrNotFound) {
			t.Skipf("no %s here: apt install systemd-container util-linux iproute2", program)
		}
	}
	if _, err := os.Stat("/usr/lib/systemd/systemd"); err != nil {
		t.Skip("no systemd here: apt install systemd systemd-sysv dbus")
	}
}
