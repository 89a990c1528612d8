package main

// counterWords says what a counter of a status counts: the drops of datagrams by wire's names, and what gossip noted by
// membership's. A counter of a newer agent has no words yet, and is told by its name alone.
func counterWords(name string) string {
	switch name {
	case "size":
		return "too short or too long for a message"
	case "magic":
		return "not from a wanderd"
	case "version":
		return "from another version of wanderd's protocol"
	case "class":
		return "neither gossip nor a message"
	case "clear":
		return "in the clear, from a member without the fleet's secret"
	case "no_secret":
		return "sealed, and this member has no secret"
	case "seal":
		return "sealed with another secret, or damaged on the way"
	case "malformed":
		return "damaged, or not made by this version of wanderd"
	case "gate":
		return "for a gate that this member does not take part in"
	case "addressee":
		return "for another member"
	case "stranger":
		return "from a member that gossip has not told of, or not yet"
	case "rate":
		return "from a member that sends too many"
	case "unexpected":
		return "late or repeated; normal now and then"
	case "signature":
		return "not signed by the member that they name"
	case "overload":
		return "more than this agent could take"
	case "foreign":
		return "from a host with another secret"
	case "strangers":
		return "connections that were not from a wanderd"
	case "overflow":
		return "more gossip than this agent could take"
	case "refused":
		return "nodes that are no members: what they say of themselves does not hold"
	case "clock_off":
		return "clocks of other hosts more than a minute off"
	case "same_name":
		return "two members with one name"
	case "same_key":
		return "another agent with this one's key: a copied state directory"
	case "log_lost":
		return "lines of the gossip library's log that were not written"
	}
	return ""
}
