package streams

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/peertest"
)

var (
	secretOne = bytes.Repeat([]byte{1}, 32)
	secretTwo = bytes.Repeat([]byte{2}, 32)
)

func newTestSeal(t testing.TB, key []byte) *Seal {
	t.Helper()
	return NewSeal(peertest.SecretsOf(key))
}

// introducerOf returns host i as it introduces itself.
func introducerOf(i int) *admission.Introducer {
	return admission.NewIntroducer(fmt.Sprintf("host%d", i), peertest.PrivateOf(i), func() []byte { return nil })
}
