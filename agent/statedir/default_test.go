package statedir

import (
	"errors"
	"testing"
)

func TestTheDefaultDirectoryDependsOnUserAndEnvironment(t *testing.T) {
	home := func() (string, error) { return "/home/ada", nil }
	for _, c := range []struct {
		name string
		env  map[string]string
		uid  int
		want string
	}{
		{"a service", map[string]string{"STATE_DIRECTORY": "/var/lib/wanderd"}, 500, "/var/lib/wanderd"},
		{"a service with two", map[string]string{"STATE_DIRECTORY": "/var/lib/a:/var/lib/b"}, 0, "/var/lib/a"},
		{"root", map[string]string{"XDG_STATE_HOME": "/root/x"}, 0, "/var/lib/wanderd"},
		{"a user with XDG", map[string]string{"XDG_STATE_HOME": "/home/ada/x"}, 1000, "/home/ada/x/wanderd"},
		{
			"a user with a relative XDG",
			map[string]string{"XDG_STATE_HOME": "x"},
			1000,
			"/home/ada/.local/state/wanderd",
		},
		{"a user", nil, 1000, "/home/ada/.local/state/wanderd"},
	} {
		got, err := defaultDir(func(name string) string { return c.env[name] }, c.uid, home)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	homeless := func() (string, error) { return "", errors.New("no $HOME") }
	_, err := defaultDir(func(string) string { return "" }, 1000, homeless)
	says(t, err, "home", "--state-dir")
}
