package confine

// Machine is what a machine gives to confine children with. What depends on rights
// is found out by starting one.
type Machine struct {
	// Kernel is its name and release.
	Kernel string
	// Landlock is the version of its interface, 0 for none.
	Landlock int
	// Calls tells whether system calls can be filtered.
	Calls bool
	// Users is where numbers of users begin that nobody has and children may
	// become; 0 when this process may not change users.
	Users int
}
