package examples_test

import (
	"os"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
)

func TestOneOfThreeReleasesMigrates(t *testing.T) {
	deep.Only(t, "a fleet of real agents")
	t.Parallel()
	out := strings.TrimSpace(mustRun(t, []string{"WANDERD=" + build(t, "../cmd/wanderd")}, "migrate/run.sh"))
	if !strings.HasSuffix(out, "1 migrations, 0 collisions") || strings.Count(out, "finds version 2") != 2 {
		t.Errorf("%s", out)
	}
}

func TestAMigrationWithALowerNumberIsRefused(t *testing.T) {
	t.Parallel()
	db := t.TempDir()
	for name, content := range map[string]string{"version": "1\n", "fence": "7\n"} {
		if err := os.WriteFile(db+"/"+name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for seq, refused := range map[string]bool{"6": true, "7": true, "8": false} {
		out, err := script(t, []string{
			"DB=" + db, "WORK=0", "WANDERD_NAME=a", "WANDERD_SEQ=" + seq,
		}, "migrate/migrate.sh")
		if refused && (err == nil || !strings.Contains(out, "refused")) || seq == "8" && err != nil {
			t.Errorf("number %s: %v: %s", seq, err, out)
		}
	}
}
