package e2e

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The demo is the first thing that a newcomer runs. No token is regenerated in so short a time, so nothing can overlap,
// except when a busy machine stops the holder for longer than its guardians are patient, and one of them revives the
// token.
func TestDemoRunsAFleetAndSumsUp(t *testing.T) {
	t.Parallel()
	wanderd := program(t) // to build it is not a part of the demo's time
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, wanderd, "demo", "--for", "8s").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, summary, _ := strings.Cut(string(out), "longest interval\n")
	for _, name := range []string{"alder", "birch", "cedar", "dogwood", "elm"} {
		if !regexp.MustCompile(`(?m)^` + name + ` +\d+ +0 `).MatchString(summary) {
			t.Errorf("%s is missing, or has failed:\n%s", name, out)
		}
	}
	calm := strings.Contains(summary, "two or more at once: 0s") &&
		strings.Contains(summary, "tokens lost: 0, regenerated: 0")
	if !calm && strings.Contains(summary, "revived: 0") {
		t.Errorf("the demo is no good advertisement:\n%s", out)
	}
}
