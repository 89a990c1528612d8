// Notice says which modules are linked into the programs, and under which licences. "make notice" writes NOTICE with it; packages carry
// the licences' texts, too.
//
//	go run ./lab/build/notice [-texts] [PACKAGE...]
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

func main() {
	texts := flag.Bool("texts", false, "write the texts of the licences, too")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./cmd/..."}
	}
	if err := write(os.Stdout, *texts, packages...); err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

// module is one that is linked, as "go list" tells of it.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// write says what is linked into the packages when they are built for GOOS and GOARCH.
func write(to io.Writer, texts bool, packages ...string) error {
	modules, err := linked(packages...)
	if err != nil {
		return err
	}
	w := &bytes.Buffer{}
	w.WriteString(`wanderd
Copyright 2026 the authors of wanderd
Licensed under Apache-2.0, see LICENSE.

The programs contain these Go modules ("make notice" writes this list):

`)
	var all []file
	for _, m := range modules {
		files, err := licences(os.DirFS(m.Dir))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		var names []string
		for i, f := range files {
			files[i].name = path.Join(m.Path, f.name)
			if path.Dir(f.name) != "." {
				continue
			}
			name, err := identify(f.text)
			if err != nil {
				return fmt.Errorf("%s, file %s: %w", m.Path, f.name, err)
			}
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return fmt.Errorf("%s: no licence in %s", m.Path, m.Dir)
		}
		fmt.Fprintf(w, "%s: %s\n", strings.TrimSpace(m.Path+" "+m.Version), strings.Join(names, " AND "))
		all = append(all, files...)
	}
	if texts {
		for _, f := range all {
			fmt.Fprintf(w, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 72), f.name, strings.TrimSpace(f.text))
		}
	}
	_, err = w.WriteTo(to)
	return err
}

// linked are the modules that packages are built from, and the standard library.
func linked(packages ...string) ([]module, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Module"}, packages...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	found := []module{{Path: "Go's standard library", Dir: strings.TrimSpace(string(goroot))}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *module }
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("the output of %s: %w", cmd, err)
		}
		if p.Module != nil && !p.Module.Main && !slices.Contains(found, *p.Module) {
			found = append(found, *p.Module)
		}
	}
	slices.SortFunc(found, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return found, nil
}

type file struct{ name, text string }

// licences are the files at the top of a module that speak of its licence, and the texts in a folder of that name.
func licences(dir fs.FS) ([]file, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	var found []file
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		switch {
		case entry.IsDir() && name == "LICENSES":
			texts, err := fs.Glob(dir, entry.Name()+"/*.txt")
			if err != nil {
				return nil, err
			}
			for _, name := range texts {
				text, err := fs.ReadFile(dir, name)
				if err != nil {
					return nil, err
				}
				found = append(found, file{name, string(text)})
			}
		case entry.IsDir(), strings.HasSuffix(name, ".GO"):
		case strings.HasPrefix(name, "LICENSE"), strings.HasPrefix(name, "LICENCE"), strings.HasPrefix(name, "COPYING"),
			strings.HasPrefix(name, "NOTICE"):
			text, err := fs.ReadFile(dir, entry.Name())
			if err != nil {
				return nil, err
			}
			found = append(found, file{entry.Name(), string(text)})
		}
	}
	return found, nil
}

// identify names the licence that a file is, as SPDX does; none for a notice, which names authors. Each licence has a sentence that no other
// has. The first that is found counts: the texts that ask for more come first.
func identify(text string) (string, error) {
	plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, mark := range []struct{ name, says string }{
		{"MPL-2.0", "mozilla public license, version 2.0"},
		{"MPL-2.0", "mozilla public license version 2.0"},
		{"Apache-2.0", "apache license version 2.0, january 2004"},
		{"OFL-1.1", "sil open font license"},
		{"CC-BY-4.0", "creative commons attribution 4.0 international public license"},
		{"FTL OR GPL-2.0-or-later", "the freetype license, which is similar to the original bsd license"},
		{"BSD-3-Clause", "neither the name of"},
		{"BSD-3-Clause", "the names of its contributors may not be used"},
		{"BSD-2-Clause", "redistributions in binary form must reproduce"},
		{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
		{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	} {
		if strings.Contains(plain, mark.says) {
			return mark.name, nil
		}
	}
	if strings.Contains(plain, "license") && strings.Contains(plain, "warrant") {
		return "", errors.New("a licence that this tool does not know")
	}
	return "", nil
}
