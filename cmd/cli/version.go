package cli

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the release that this source is, or will become: the first one in CHANGELOG.md.
const version = "v0.1.0"

// released matches the tag of a release. For other commits the Go tool makes up a version with a date.
var released = regexp.MustCompile(`^v\d+\.\d+\.\d+(-rc\.\d+)?$`)

// Version returns the version of this program's source: the version of its tag, or the coming version with the commit.
// A build without git knows only the coming version.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	return sourceVersion(info)
}

// sourceVersion reads what the Go tool has recorded in a program.
func sourceVersion(info *debug.BuildInfo) string {
	var commit, changed string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				changed = "-changed"
			}
		}
	}
	switch noted := info.Main.Version; {
	case released.MatchString(noted):
		return noted
	case commit != "":
		return version + "-" + commit + changed
	case noted != "" && noted != "(devel)":
		return noted // "go install" of a commit, which it names
	default:
		return version
	}
}

func newVersionCommand(name string) *cobra.Command {
	about := ""
	if name == "wanderd" {
		about = "\n\n\"wanderd status\" prints the version of the running agent, which may differ."
	}
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print the version of this program, and of Go." + about,
		Args:  NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s %s %s/%s\n", name, Version(), runtime.Version(),
				runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
