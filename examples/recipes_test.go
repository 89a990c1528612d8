package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// A recipe is a page that is read while it is followed.
func TestRecipesAreShortPages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"apt", "dnf", "reboot", "zincati"} {
		text := read(t, name+"/README.md")
		if n := strings.Count(text, "\n"); n > 40 {
			t.Errorf("%s/README.md has %d lines", name, n)
		}
		for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(name, m[1])); err != nil {
				t.Errorf("%s/README.md: %v", name, err)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each recipe's gate is one that an agent of each of its hosts accepts.
func TestGatesOfRecipesAreAccepted(t *testing.T) {
	t.Parallel()
	program, dir := build(t, "../cmd/wanderd"), t.TempDir()
	secret := dir + "/secret"
	mustRun(t, nil, program, "keygen", "--secret", secret)
	for _, name := range []string{"dnf", "reboot", "zincati"} {
		file := name + "/wanderd.toml"
		if name == "reboot" { // its program is elsewhere after the installation
			file = dir + "/reboot.toml"
			here, err := filepath.Abs("reboot/needs-reboot.sh")
			if err != nil {
				t.Fatal(err)
			}
			write(t, file, strings.Replace(read(t, "reboot/wanderd.toml"), "/usr/local/bin/needs-reboot.sh", here, 1))
		}
		var c struct {
			Gate []struct {
				Roster []string
				Keep   string
			}
		}
		if _, err := toml.DecodeFile(file, &c); err != nil || len(c.Gate) != 1 || c.Gate[0].Keep == "" {
			t.Fatalf("%s: %v, %+v", file, err, c)
		}
		for _, host := range c.Gate[0].Roster {
			mustRun(t, nil, program, "config", "check", "--config", file, "--name", host, "--secret-file", secret,
				"--state-dir", dir, "--trust-hook")
		}
	}
}

// apt reads the file, and unattended-upgrades does not reboot, although the package's file may say so.
func TestAptDoesNotReboot(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("apt-config"); err != nil {
		t.Skip("no apt here")
	}
	dir := t.TempDir()
	write(t, dir+"/50unattended-upgrades", "Unattended-Upgrade::Automatic-Reboot \"true\";\n")
	write(t, dir+"/52wanderd-reboots", read(t, "apt/52wanderd-reboots"))
	write(t, dir+"/apt.conf", "Dir::Etc::parts \""+dir+"\";\n")
	for key, want := range map[string]string{
		"Unattended-Upgrade::Automatic-Reboot": "false", "APT::Periodic::Unattended-Upgrade": "1",
	} {
		out := mustRun(t, []string{"APT_CONFIG=" + dir + "/apt.conf"}, "apt-config", "dump", key)
		if !strings.Contains(out, key+" \""+want+"\";") {
			t.Errorf("apt reads %s, want %s", out, want)
		}
	}
}

// needrestart reads its files as Perl.
func TestNeedrestartAsksNobody(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("no perl here")
	}
	out := mustRun(t, nil, "perl", "-e", `our %nrconf; eval do { local(@ARGV, $/) = "apt/needrestart.conf"; <> };
		die $@ if $@; print "$nrconf{restart} $nrconf{kernelhints}"`)
	if out != "a 0" {
		t.Errorf("needrestart reads %q", out)
	}
}

// dnf5-automatic gives its reboot_command to a shell. It must end at once, and the reboot must wait for its turn.
func TestDnfRebootsInTurn(t *testing.T) {
	t.Parallel()
	text := read(t, "dnf/automatic.conf")
	m := regexp.MustCompile(`(?m)^reboot_command = (.*)$`).FindStringSubmatch(text)
	if m == nil || !strings.Contains(text, "\nreboot = when-needed\n") || !strings.Contains(text, "\n[commands]\n") {
		t.Fatalf("no reboot in\n%s", text)
	}
	dir := t.TempDir()
	for _, name := range []string{"systemd-run", "wanderd", "systemctl"} {
		write(t, dir+"/"+name, "#!/bin/sh\necho \"${0##*/} $*\" >>\"$JOURNAL\"\n"+
			"while [ \"$#\" -gt 0 ] && [ \"$1\" != wanderd ] && [ \"$1\" != -- ]; do shift; done\n"+
			"[ \"$1\" = -- ] && shift\n[ $# = 0 ] || exec \"$@\"\n")
		if err := os.Chmod(dir+"/"+name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "JOURNAL=" + dir + "/journal"}, "sh", "-c", m[1])
	wantContent(t, dir+"/journal",
		"systemd-run --collect --unit=reboot-in-turn wanderd exec --gate reboot -- systemctl reboot\n"+
			"wanderd exec --gate reboot -- systemctl reboot\nsystemctl reboot\n")
}

// Zincati asks where the agent answers, in the group that the agent serves.
func TestZincatiAsksItsAgent(t *testing.T) {
	t.Parallel()
	var client struct {
		Updates struct {
			Strategy  string
			FleetLock struct {
				BaseURL string `toml:"base_url"`
			} `toml:"fleet_lock"`
		}
	}
	var agent struct {
		Gate []struct {
			FleetLock string
			Group     string `toml:"fleetlock_group"`
		}
	}
	_, err := toml.DecodeFile("zincati/55-wanderd.toml", &client)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := toml.DecodeFile("zincati/wanderd.toml", &agent); err != nil {
		t.Fatal(err)
	}
	if u, g := client.Updates, agent.Gate[0]; u.Strategy != "fleet_lock" || g.Group != "default" ||
		u.FleetLock.BaseURL != "http://"+g.FleetLock+"/" {
		t.Errorf("Zincati asks %+v, and the agent answers %+v", u, g)
	}
	if unit := read(t, "zincati/after-wanderd.conf"); !strings.Contains(unit, "[Unit]\n") ||
		!strings.Contains(unit, "\nAfter=wanderd.service\n") {
		t.Errorf("the agent may start later:\n%s", unit)
	}
}
