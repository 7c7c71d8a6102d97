package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// policyForm is the end of messages about a policy.
const policyForm = `write {"default": "allow", "allow": ["SERVER.TOOL"], "ask": [], "deny": []}`

// policyText is a policy as JSON.
type policyText struct {
	Default string        `json:"default"`
	Allow   []patternText `json:"allow"`
	Ask     []patternText `json:"ask"`
	Deny    []patternText `json:"deny"`
}

// patternText is "SERVER.TOOL", or an object where names have dots.
type patternText struct {
	text         string
	server, tool string
}

// UnmarshalJSON reads either form.
func (p *patternText) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &p.text)
	}
	var object struct {
		Server string `json:"server"`
		Tool   string `json:"tool"`
	}
	if err := strictly(data, &object); err != nil {
		return err
	}
	if object.Server == "" || object.Tool == "" {
		return errors.New(`a rule needs "server" and "tool"`)
	}
	p.server, p.tool = object.Server, object.Tool
	return nil
}

// strictly decodes one JSON text, and refuses members that mean nothing.
func strictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more after the end of the JSON")
	}
	return nil
}

// ParsePolicy reads a policy of its JSON form,
//
//	{"default": "ask", "allow": ["files.read_*"], "ask": [], "deny": ["mail.*"]}
//
// for the servers that are configured. A rule may be {"server": …, "tool": …} too.
func ParsePolicy(data []byte, servers []string) (Policy, error) {
	var text policyText
	if err := strictly(data, &text); err != nil {
		return Policy{}, fmt.Errorf("%w; %s", err, policyForm)
	}
	var p Policy
	switch text.Default {
	case "":
	case "allow":
		p.Default = Allow
	case "ask":
		p.Default = Ask
	case "deny":
		p.Default = Deny
	default:
		return Policy{}, fmt.Errorf(`"default" is %q; write allow, ask or deny, or leave it out: then destructive tools are asked for`, text.Default)
	}
	for _, list := range []struct {
		decision Decision
		patterns []patternText
	}{{Allow, text.Allow}, {Ask, text.Ask}, {Deny, text.Deny}} {
		for _, pattern := range list.patterns {
			server, tool := pattern.server, pattern.tool
			if pattern.text != "" || server == "" {
				var err error
				if server, tool, err = ParsePattern(pattern.text, servers); err != nil {
					return Policy{}, fmt.Errorf("%q: %w", list.decision, err)
				}
			}
			p.Rules = append(p.Rules, Rule{Server: server, Tool: tool, Decision: list.decision})
		}
	}
	return p, nil
}
