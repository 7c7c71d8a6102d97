package upstream

import (
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Reserved tells whether a member of _meta is about one message, by the protocol's own
// rules, so that it means nothing in another: a progress token, and all whose name has
// a prefix that the protocol keeps for itself. Those are prefixes with mcp or
// modelcontextprotocol as their second label, or, by versions before 2025-11-25, before
// their last one.
func Reserved(name string) bool {
	if name == "progressToken" {
		return true
	}
	prefix, _, found := strings.Cut(name, "/")
	if !found {
		return false
	}
	labels := strings.Split(prefix, ".")
	for i, label := range labels {
		if (label == "mcp" || label == "modelcontextprotocol") && (i == 1 || i < len(labels)-1) {
			return true
		}
	}
	return false
}

// wrapMember is what one framework says in _meta of how its result is to be read.
const wrapMember = "fastmcp"

// metaOf returns what of a result's _meta is for those who handle the result.
func metaOf(meta lossless.Value) lossless.Value {
	if meta.Kind() != lossless.KindObject {
		return lossless.Value{}
	}
	kept, err := lossless.Parse(edited(meta, func(name string, value lossless.Value) []byte {
		if name == wrapMember || Reserved(name) {
			return nil
		}
		return value.Bytes()
	}), lossless.Options{})
	if err != nil || kept.Len() == 0 {
		return lossless.Value{}
	}
	return kept
}
