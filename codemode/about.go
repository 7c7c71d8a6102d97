package codemode

import (
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// formats says what the formats of JSON Schema look like. Values of all of them are
// str in a program.
var formats = map[string]string{
	"date-time": "ISO 8601 date and time",
	"date":      "ISO 8601 date",
	"time":      "ISO 8601 time",
	"duration":  "ISO 8601 duration",
	"uri":       "URI",
	"url":       "URL",
	"email":     "email address",
	"uuid":      "UUID",
	"ipv4":      "IPv4 address",
	"ipv6":      "IPv6 address",
	"hostname":  "host name",
	"regex":     "regular expression",
	"binary":    "binary data",
	"byte":      "base64",
}

// silentFormats tell nothing that the type doesn't.
var silentFormats = []string{"", "int32", "int64", "float", "double", "string"}

// about returns what a comment says of a schema beside its type and description.
func (t *typer) about(s *schema) []string {
	var notes []string
	if known, ok := formats[s.format]; ok {
		notes = append(notes, known)
	} else if !slices.Contains(silentFormats, s.format) {
		notes = append(notes, "format "+prose(s.format, 40))
	}
	if s.encoding != "" {
		notes = append(notes, prose(s.encoding, 20))
	}
	notes = append(notes, s.limits...)
	notes = append(notes, s.notes...)
	if s.fallback.Exists() && s.fallback.Kind() != lossless.KindNull {
		notes = append(notes, "default "+prose(literal(s.fallback), 60))
	}
	if len(s.properties) == 0 && s.additional != nil && !s.additional.never && !s.additional.says() && len(s.types) == 0 {
		notes = append(notes, "an object")
	}
	return notes
}

// comment joins a description and notes into a comment, or nothing.
func comment(description string, notes []string, limit int) string {
	var parts []string
	if description != "" {
		words := prose(description, limit)
		if len(notes) > 0 {
			words = strings.TrimSuffix(words, ".")
		}
		parts = append(parts, words)
	}
	for _, note := range notes {
		if !slices.Contains(parts, note) {
			parts = append(parts, note)
		}
	}
	most := 4 * limit
	for _, note := range notes {
		most = max(most, len(note)+2*limit)
	}
	text := prose(strings.Join(parts, "; "), most)
	if text == "" {
		return ""
	}
	return "  # " + text
}
