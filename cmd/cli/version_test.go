package cli

import (
	"os"
	"regexp"
	"runtime/debug"
	"testing"
)

func TestVersionNamesTheReleaseAndTheCommit(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, built := range []struct {
		how, noted, commit, changed, want string
	}{
		{how: "without git", noted: "(devel)", want: version},
		{how: "by a Go that notes nothing", want: version},
		{how: "from a tag", noted: "v1.2.3", commit: commit, changed: "false", want: "v1.2.3"},
		{
			how: "from a commit", noted: "v0.0.0-20261124080000-0123456789ab", commit: commit, changed: "false",
			want: version + "-0123456789ab",
		},
		{
			how: "changed", noted: "v0.0.0-20261124080000-0123456789ab+dirty", commit: commit, changed: "true",
			want: version + "-0123456789ab-changed",
		},
		{
			how: "by go install", noted: "v0.1.1-0.20261124080000-0123456789ab",
			want: "v0.1.1-0.20261124080000-0123456789ab",
		},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: built.noted}}
		if built.commit != "" {
			info.Settings = []debug.BuildSetting{
				{Key: "vcs.revision", Value: built.commit}, {Key: "vcs.modified", Value: built.changed},
			}
		}
		if got := sourceVersion(info); got != built.want {
			t.Errorf("built %s: version %s, want %s", built.how, got, built.want)
		}
	}
}

func TestVersionIsTheFirstOfTheChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`(?m)^## (v\S+)`).FindSubmatch(text)
	if first == nil || string(first[1]) != version {
		t.Errorf("CHANGELOG.md begins with %q, and the source is %s", first, version)
	}
}
