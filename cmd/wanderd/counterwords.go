package main

// counterWords explains a counter of a status: drops of datagrams, by the names in package wire, and the counters of
// gossip. A counter of a newer agent has no explanation, and only its name is printed.
func counterWords(name string) string {
	return map[string]string{
		"size":       "too short or too long for a message",
		"magic":      "not from a wanderd",
		"version":    "from another version of wanderd's protocol",
		"class":      "neither gossip nor a message",
		"clear":      "in the clear, from a member without the fleet's secret",
		"no_secret":  "sealed, but this member has no secret",
		"seal":       "sealed with another secret, or damaged in transit",
		"malformed":  "damaged, or not made by this version of wanderd",
		"gate":       "for a gate that this member does not have",
		"protocol":   "for a gate that has another protocol here, or another version of it",
		"addressee":  "for another member",
		"stranger":   "from a member that is not in the gate, or not known from gossip, or not yet",
		"rate":       "from a member that sends too many",
		"unexpected": "late or repeated; some are normal",
		"signature":  "not signed by the member that they name",
		"duplicate":  "copies of earlier ones: the network doubles them, or somebody plays them back",
		"overload":   "more than this agent could process",
		"foreign":    "from a host with another secret",
		"strangers":  "connections that were not from a wanderd",
		"untrusted":  "gossip and connections from hosts whose key is not among the known hosts",
		"overflow":   "more gossip than this agent could process",
		"crowded":    "connections closed because there were too many at once",
		"refused":    "nodes that are no members: their name, key or address is invalid",
		"clock_off":  "clocks of other hosts more than a minute off",
		"same_name":  "two members with one name",
		"same_key":   "another agent with this one's key: a copied state directory",
		"log_lost":   "lines of the gossip library's log that were not written",
	}[name]
}
