package confine

// A Nursery is what a nursery and its children apply. What a child can inherit, it
// doesn't apply again.
type Nursery struct {
	// Own is for the nursery itself.
	Own *Policy
	// Run is for each of its children, but for what an Order says.
	Run *Policy
}

// An Order is what differs between the children of a nursery.
type Order struct {
	Size
	Limits [][2]int64 `json:"limits"`
	Told   *Told      `json:"told"`
	// Numbers are those of the proofs that depend on the run, by kind.
	Numbers map[string]int64 `json:"numbers"`
	// Thorough tells to make every attempt, and not only those for each child.
	Thorough bool `json:"thorough,omitempty"`
}
