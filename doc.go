// Package thirdrail runs Python that a language model wrote: full CPython, a fresh
// process for each program, with functions of the host to call.
//
// A [Runtime] is made once. [Runtime.Run] runs one program to its end and tells in
// a [Result] what it returned, printed, or did wrong. Everything between the host
// and the child crosses the child's file descriptor 3 as JSON lines; the host
// trusts nothing that arrives there.
//
// Values cross exactly, or the run fails with a message that says why: integers
// of any size, floats bit for bit, strings with every code point, any depth. See
// package lossless.
package thirdrail
