package main

import (
	"fmt"
	"strings"
)

// A choice is a flag with a few words as its possible values.
type choice[T comparable] struct {
	target  *T
	options []option[T]
}

// An option is one word of a choice, and what it means.
type option[T comparable] struct {
	word  string
	value T
}

// String returns the word for the present value, or "" where there is none, which
// the help shows as no default.
func (c choice[T]) String() string {
	if c.target == nil {
		return ""
	}
	for _, o := range c.options {
		if o.value == *c.target {
			return o.word
		}
	}
	return ""
}

// Set takes one of the words.
func (c choice[T]) Set(word string) error {
	for _, o := range c.options {
		if o.word == word {
			*c.target = o.value
			return nil
		}
	}
	return fmt.Errorf("%q is none of its values; write %s", word, c.words(" or "))
}

// Type returns the words as the help shows them.
func (c choice[T]) Type() string { return c.words("|") }

func (c choice[T]) words(separator string) string {
	words := make([]string, len(c.options))
	for i, o := range c.options {
		words[i] = o.word
	}
	return strings.Join(words, separator)
}
