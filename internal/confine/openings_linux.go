package confine

// openings are what the rules for system calls leave open beyond the default.
type openings struct {
	processes  bool // fork, and programs that Landlock lets be executed
	network    bool
	attributes bool // chmod and its kind, where only the run's own files are in reach
}
