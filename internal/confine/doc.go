// Package confine composes what a child may do, as data. The host sends the
// [Policy] in the boot frame; the child's own code (confine.py) applies it before
// the program starts, then tries what it forbids and answers with what it saw,
// which [Policy.Check] compares with what had to be refused.
//
// Nothing here confines the host itself.
package confine
