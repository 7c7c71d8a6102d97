package mcp

import (
	"fmt"
	"strings"

	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// Decision is what a Policy says of a tool.
type Decision int

const (
	// Undecided leaves it to the tool: one with an explicit destructiveHint of true
	// is asked for, all others are allowed.
	Undecided Decision = iota
	// Allow lets programs call the tool.
	Allow
	// Ask has the client's user approve each call.
	Ask
	// Deny leaves the tool out of the catalogue.
	Deny
)

// String returns the decision as a policy is written.
func (d Decision) String() string {
	switch d {
	case Undecided:
		return "undecided"
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	default:
		return fmt.Sprintf("Decision(%d)", int(d))
	}
}

// Policy decides which tools programs may call, by their true names. The zero
// value allows all, and asks for those that say that they are destructive.
type Policy struct {
	// Default is for tools that no rule is for.
	Default Decision
	// Rules are for tools that match. Among several, the one with the most letters
	// beside its stars counts; among equals the strictest. Their order makes no
	// difference.
	Rules []Rule
}

// Rule is a decision for the tools whose server and name match.
type Rule struct {
	// Server and Tool are names, in which each * stands for any text.
	Server, Tool string
	Decision     Decision
}

// letters returns how particular a rule is.
func (r Rule) letters() int {
	return len(strings.ReplaceAll(r.Server, "*", "")) + len(strings.ReplaceAll(r.Tool, "*", ""))
}

// Matches tells whether a rule is for a tool.
func (r Rule) Matches(server, tool string) bool {
	return matches(r.Server, server) && matches(r.Tool, tool)
}

// matches tells whether a pattern is for a name.
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(name, first) || !strings.HasSuffix(name[len(first):], last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// Decide returns Allow, Ask or Deny for a tool.
func (p Policy) Decide(tool upstream.Tool) Decision {
	decision, most := p.Default, -1
	for _, rule := range p.Rules {
		if !rule.Matches(tool.Namespace, tool.Name) {
			continue
		}
		if n := rule.letters(); n > most || n == most && rule.Decision > decision {
			decision, most = rule.Decision, n
		}
	}
	if decision == Undecided {
		if tool.Destructive != nil && *tool.Destructive {
			return Ask
		}
		return Allow
	}
	return decision
}

// ParsePattern splits SERVER.TOOL, in which both may have stars. Names may have dots
// themselves: then the servers that are configured tell where the first one ends. A
// lone star, or a server's name alone, is for all tools. An error says what to write.
func ParsePattern(pattern string, servers []string) (server, tool string, err error) {
	if pattern == "*" {
		return "*", "*", nil
	}
	if rest, ok := strings.CutPrefix(pattern, "*."); ok && rest != "" {
		return "*", rest, nil
	}
	var found [][2]string
	for i := 0; i <= len(pattern); i++ {
		if i < len(pattern) && pattern[i] != '.' {
			continue
		}
		left, right := pattern[:i], "*"
		if i < len(pattern) {
			right = pattern[i+1:]
		}
		if right != "" && knowsServer(left, servers) {
			found = append(found, [2]string{left, right})
		}
	}
	switch {
	case len(found) == 1:
		return found[0][0], found[0][1], nil
	case len(found) > 1:
		return "", "", fmt.Errorf("%q could be %q of the server %q, or %q of %q; write {\"server\": …, \"tool\": …} in a policy file",
			pattern, found[0][1], found[0][0], found[1][1], found[1][0])
	case len(servers) == 0:
		return "", "", fmt.Errorf("%q is for no server: none is configured", pattern)
	}
	return "", "", fmt.Errorf("%q is for no server; write SERVER.TOOL, with * for any; the servers are: %s", pattern, strings.Join(servers, ", "))
}

// knowsServer tells whether a pattern is for a server that is configured.
func knowsServer(pattern string, servers []string) bool {
	for _, name := range servers {
		if matches(pattern, name) {
			return true
		}
	}
	return false
}
