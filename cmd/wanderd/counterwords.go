package main

// counterWords explains a counter of a status: drops of datagrams, by the names of package wire, and the counters of gossip. A
// counter of a newer agent has no explanation, and only its name is printed.
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
		return "sealed, but this member has no secret"
	case "seal":
		return "sealed with another secret, or damaged in transit"
	case "malformed":
		return "damaged, or not made by this version of wanderd"
	case "gate":
		return "for a gate that this member does not have"
	case "protocol":
		return "for a gate that has another protocol here, or another version of it"
	case "addressee":
		return "for another member"
	case "stranger":
		return "from a member that is not in the gate, or not known from gossip, or not yet"
	case "rate":
		return "from a member that sends too many"
	case "unexpected":
		return "late or repeated; some are normal"
	case "signature":
		return "not signed by the member that they name"
	case "duplicate":
		return "copies of earlier ones: the network doubles them, or somebody plays them back"
	case "overload":
		return "more than this agent could process"
	case "foreign":
		return "from a host with another secret"
	case "strangers":
		return "connections that were not from a wanderd"
	case "untrusted":
		return "gossip and connections from hosts whose key is not among the known hosts"
	case "overflow":
		return "more gossip than this agent could process"
	case "crowded":
		return "connections closed because there were too many at once"
	case "refused":
		return "nodes that are no members: their name, key or address is invalid"
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
