// Command thirdrail runs Python that a language model wrote.
//
// Its exit status is 0 when the program succeeded, 1 when it failed, and 2 when
// the command was used wrongly and nothing was run.
package main

import "os"

func main() {
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
