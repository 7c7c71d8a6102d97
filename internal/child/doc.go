// Package child owns a child's life: it starts the interpreter with the
// descriptors that the protocol wants, tells how much CPU time it has used, ends
// it with all that it left behind, and says how it ended.
//
// Between the host and the process that runs the program stands a keeper, a
// process of our own (thirdrail_child/start.py says why). Where the machine allows
// one, the keeper is the first process of a PID namespace, and the kernel ends
// everything in it together with the keeper. Elsewhere it is a subreaper, and
// what descends from it is found and killed by way of /proc.
package child
