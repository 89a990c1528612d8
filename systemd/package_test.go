package systemd_test

import (
	"os"
	"strings"
	"testing"
)

// A host with wanderd also has "wanderd plan" and "wanderd sim", which wandersim carries out.
func TestPackagesCarryBothProgramsWithAllThatBelongsToThem(t *testing.T) {
	text, err := os.ReadFile("package/nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"wanderd", "wandersim"} {
		for _, file := range []string{
			"/usr/bin/NAME", "/usr/share/bash-completion/completions/NAME", "/usr/share/zsh/vendor-completions/_NAME",
			"/usr/share/fish/vendor_completions.d/NAME.fish", "/usr/share/doc/wanderd/NAME.cdx.json",
		} {
			if file = strings.ReplaceAll(file, "NAME", program); !strings.Contains(string(text), "dst: "+file+",") {
				t.Errorf("the packages lack %s", file)
			}
		}
	}
}

// wanderd looks for its guard there.
func TestPackagesCarryTheGuard(t *testing.T) {
	text, err := os.ReadFile("package/nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"/usr/libexec/wanderd/hook-guard", "/usr/share/doc/wanderd/hook-guard.cdx.json"} {
		if !strings.Contains(string(text), "dst: "+file+",") {
			t.Errorf("the packages lack %s", file)
		}
	}
}
