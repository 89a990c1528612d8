package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNoticeListsWhatIsLinked(t *testing.T) {
	var now bytes.Buffer
	if err := write(&now, false, "../../../cmd/wanderd", "../../../cmd/wandersim"); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("../../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), now.String()); diff != "" {
		t.Errorf("NOTICE is not what is linked now; run \"make notice\":\n%s", diff)
	}
}

func TestNoticeRefusesALicenceThatItDoesNotKnow(t *testing.T) {
	for text, want := range map[string]string{
		"Permission is hereby granted, free of charge,\nto any person obtaining a copy": "MIT",
		"Apache License\n   Version 2.0, January 2004":                                  "Apache-2.0",
		"Redistribution… Neither the name of X":                                         "BSD-3-Clause",
		"This product was written by X.":                                                "",
	} {
		if name, err := identify(text); name != want || err != nil {
			t.Errorf("identify(%q) = %q, %v, want %q", text, name, err, want)
		}
	}
	if name, err := identify("The Unheard-of License. No warranty."); err == nil ||
		!strings.Contains(err.Error(), "does not know") {
		t.Errorf("a licence of nobody's is %q, %v", name, err)
	}
}
