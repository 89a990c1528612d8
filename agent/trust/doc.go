// Package trust decides which keys may take part in a fleet, by a file in OpenSSH's format of known hosts (sshd(8),
// "SSH_KNOWN_HOSTS FILE FORMAT"):
//
//	m1 ssh-ed25519 AAAA…                        this key is the member m1
//	@cert-authority m* ssh-ed25519 AAAA…        host certificates of this key are good for members named m…
//	@revoked * ssh-ed25519 AAAA…                this key, and what it has signed, is not trusted
//
// A host name of the file is a member's name, exactly as its agent is told it; ports mean nothing here. So the files,
// keys and certificates of ssh-keygen and of any certificate authority for SSH work as they are.
//
// Where this package is stricter than ssh: a revoked key is revoked under every name; a certificate has exactly one
// principal, equal to the member's name; a line that cannot be read makes the file invalid, because it may be a
// revocation.
//
// Its decisions, in docs/decisions: 075.
package trust
