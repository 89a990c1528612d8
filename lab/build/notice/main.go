// Notice lists the modules that are linked into the programs, and their licences. "make notice" writes NOTICE with
// it; packages also contain the texts of the licences.
//
//	go run ./lab/build/notice [-texts] [PROGRAM...]
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
	programs := flag.Args()
	if len(programs) == 0 {
		programs = shipped()
	}
	if err := write(os.Stdout, *texts, programs...); err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

// module is a module that is linked, as "go list" describes it.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// shipped are the programs in packages.
func shipped() []string { return []string{"./cmd/wanderd", "./cmd/wandersim"} }

// write writes what is linked into each of the programs when they are built for GOOS and GOARCH: first what all have.
func write(to io.Writer, texts bool, programs ...string) error {
	var each [][]module
	for _, program := range programs {
		modules, err := linked(program)
		if err != nil {
			return err
		}
		each = append(each, modules)
	}
	lacking := func(m module) bool {
		return slices.ContainsFunc(each, func(modules []module) bool { return !slices.Contains(modules, m) })
	}
	all := slices.DeleteFunc(slices.Clone(each[0]), lacking)
	w := &bytes.Buffer{}
	w.WriteString("wanderd\nCopyright 2026 the authors of wanderd\nLicensed under Apache-2.0, see LICENSE.\n")
	w.WriteString("\nThe programs contain these Go modules (\"make notice\" writes this list):\n\n")
	found, err := list(w, all)
	if err != nil {
		return err
	}
	for i, modules := range each {
		own := slices.DeleteFunc(slices.Clone(modules), func(m module) bool { return slices.Contains(all, m) })
		if len(own) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s contains these, too:\n\n", path.Base(programs[i]))
		files, err := list(w, own)
		if err != nil {
			return err
		}
		found = append(found, files...)
	}
	if texts {
		told := map[string]bool{} // several programs may have a module that others lack
		for _, f := range found {
			if !told[f.name] {
				fmt.Fprintf(w, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 72), f.name, strings.TrimSpace(f.text))
			}
			told[f.name] = true
		}
	}
	_, err = w.WriteTo(to)
	return err
}

// list writes a line for each module, with its licences, and returns the files of these licences.
func list(w io.Writer, modules []module) ([]file, error) {
	var all []file
	for _, m := range modules {
		files, err := licences(os.DirFS(m.Dir))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		var names []string
		for i, f := range files {
			files[i].name = path.Join(m.Path, f.name)
			if path.Dir(f.name) != "." {
				continue
			}
			name, err := identify(f.text)
			if err != nil {
				return nil, fmt.Errorf("%s, file %s: %w", m.Path, f.name, err)
			}
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: no licence in %s", m.Path, m.Dir)
		}
		_, _ = fmt.Fprintf(w, "%s: %s\n", strings.TrimSpace(m.Path+" "+m.Version), strings.Join(names, " AND "))
		all = append(all, files...)
	}
	return all, nil
}

// linked returns the modules from which a program is built, and the standard library.
func linked(program string) ([]module, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Module", program)
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

// licences returns the files at the top of a module that are about its licence, and the texts in a folder of that name.
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

// identify returns the SPDX name of the licence that a file is. It is empty for a notice, which names authors. Each
// licence has a sentence that no other has. The first that is found counts: the texts that ask for more come first.
func identify(text string) (string, error) {
	plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, mark := range []struct{ name, says string }{
		{"MPL-2.0", "mozilla public license, version 2.0"},
		{"MPL-2.0", "mozilla public license version 2.0"},
		{"Apache-2.0", "apache license version 2.0, january 2004"},
		{"OFL-1.1", "sil open font license"},
		{"CC-BY-4.0", "creative commons attribution 4.0 international public license"},
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
