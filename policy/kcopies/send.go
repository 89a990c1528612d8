package kcopies

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// SafeSendToken (lines 16–21) passes the real token on to S_i+1, "and a copy of it to {S_i+2 … S_i+k+1}". "S_i can call
// the function SafeSendToken only if it holds the REAL token and once it does, it grants the token" (section 2.2).
func (m *Machine) SafeSendToken(data *Data, out []policy.Effect) []policy.Effect {
	return m.SafeSendTokenTo(m.cfg.Successor(), data, out)
}

// SafeSendTokenTo is SafeSendToken, but leaves out sites that the owner knows to have crashed.
func (m *Machine) SafeSendTokenTo(to Site, data *Data, out []policy.Effect) []policy.Effect {
	ref := m.hop(to)
	out = m.send(to, to, &ref, data, out) // line 18
	return m.Hopped(to, data, out)
}

// Hop returns what the real token carries to another site: <TOKEN, S_T, count> with S_T = to and the count that is
// valid there. For S_i+1 this is line 17, count ← count + 1. Each site that the owner leaves out as crashed adds one:
// the count is then the same as if this site's successor had used its copy.
func (m *Machine) Hop(to Site, data *Data) (ref wire.Ref, load wire.Load) {
	put(&load, to, data)
	return m.hop(to), load
}

func (m *Machine) hop(to Site) wire.Ref {
	return m.ref(m.count + wire.Seq(m.cfg.Distance(m.cfg.Self, to)))
}

// Hopped records that the real token is on its way to another site, and sends the k copies (line 18). After a hop that
// left sites out, this member can be one of the k sites: then it keeps a copy itself.
func (m *Machine) Hopped(to Site, data *Data, out []policy.Effect) []policy.Effect {
	ref := m.hop(to)
	m.count = ref.Seq
	m.becomeNone() // lines 19–21
	for d := 1; d <= m.cfg.K; d++ {
		site := m.cfg.After(to, d)
		if site == m.cfg.Self {
			m.become(Backup, to)
			m.data = *data
			continue
		}
		out = m.send(site, to, &ref, data, out)
	}
	return out
}

func (m *Machine) send(to, st Site, ref *wire.Ref, data *Data, out []policy.Effect) []policy.Effect {
	out, msg := policy.AppendMessage(out)
	msg.Gate, msg.Kind, msg.From, msg.To = m.cfg.Gate, KindToken, m.cfg.Ring[m.cfg.Self], m.cfg.Ring[to]
	msg.Token = *ref
	put(&msg.Load, st, data)
	return out
}
