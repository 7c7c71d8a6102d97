package codemode

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// schema is what declarations are made from: one JSON Schema, with the keywords
// that Python's types or a comment can say. Its order is that of the text.
type schema struct {
	pointer string // where it stands in its document
	never   bool   // the schema false

	ref, dynamicRef string
	types           []string
	nullable        bool // OpenAPI's keyword
	enum            []lossless.Value
	constant        lossless.Value

	properties []property
	required   []string
	patterns   []property // by regular expression
	additional *schema    // nil where the schema says nothing
	prefix     []*schema
	items      *schema

	allOf, anyOf, oneOf []*schema

	title, description, format, encoding string
	fallback                             lossless.Value // the keyword default
	limits                               []string       // ranges, lengths and the like, in words
	notes                                []string       // what only words can say

	// conditional are the properties that then, else and the like may add.
	conditional []*schema
}

type property struct {
	name   string
	schema *schema
}

// says tells whether the schema restricts anything that has a type.
func (s *schema) says() bool {
	return s.never || s.ref != "" || s.dynamicRef != "" || len(s.types) > 0 || s.enum != nil || s.constant.Exists() ||
		len(s.properties) > 0 || len(s.required) > 0 || len(s.patterns) > 0 || s.additional != nil ||
		len(s.prefix) > 0 || s.items != nil || len(s.allOf) > 0 || len(s.anyOf) > 0 || len(s.oneOf) > 0
}

func (s *schema) property(name string) *schema {
	for _, p := range s.properties {
		if p.name == name {
			return p.schema
		}
	}
	return nil
}

func (s *schema) isRequired(name string) bool { return slices.Contains(s.required, name) }

// document is one schema with what its references lead to. It reads each place
// once, and only those that are asked for.
type document struct {
	root    lossless.Value
	read    map[string]*schema
	anchors map[string]string // names of places, such as #node, and their pointers
	old     bool              // a draft in which a $ref is alone
}

func newDocument(root lossless.Value) *document {
	d := &document{root: root, read: map[string]*schema{}, anchors: map[string]string{}}
	version, _ := root.Get("$schema").Text()
	for _, draft := range []string{"draft-03", "draft-04", "draft-05", "draft-06", "draft-07"} {
		d.old = d.old || strings.Contains(version, draft)
	}
	d.findAnchors(root, "", 0)
	return d
}

// findAnchors notes the places that have a name.
func (d *document) findAnchors(v lossless.Value, pointer string, depth int) {
	if depth > maxSchemaDepth {
		return
	}
	for i, element := range v.Elements() {
		d.findAnchors(element, pointer+"/"+strconv.Itoa(i), depth+1)
	}
	for name, member := range v.Members() {
		text, err := member.Text()
		if err == nil {
			switch name {
			case "$anchor", "$dynamicAnchor":
				d.anchor("#"+text, pointer)
			case "$id", "id":
				d.anchor(text, pointer)
			}
			continue
		}
		d.findAnchors(member, pointer+"/"+escape(name), depth+1)
	}
}

func (d *document) anchor(name, pointer string) {
	if _, ok := d.anchors[name]; !ok {
		d.anchors[name] = pointer
	}
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

func escape(step string) string { return escaper.Replace(step) }

func unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}

// resolve returns the schema that a reference leads to, or nil. Nothing is fetched.
func (d *document) resolve(ref string) *schema {
	base, fragment, _ := strings.Cut(ref, "#")
	start := ""
	if base != "" {
		at, ok := d.anchors[base]
		if !ok {
			return nil
		}
		start = at
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil
	}
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		at, ok := d.anchors["#"+fragment]
		if !ok {
			return nil
		}
		return d.at(at)
	}
	return d.at(start + fragment)
}

// at returns the schema at a pointer, or nil where there is none.
func (d *document) at(pointer string) *schema {
	if s, ok := d.read[pointer]; ok {
		return s
	}
	v, err := d.root.At(pointer)
	if err != nil {
		return nil
	}
	return d.parse(v, pointer, 0)
}

// maxSchemaDepth bounds how deep schemas may be nested in one another.
const maxSchemaDepth = 200

// parse reads one schema. Anything but an object or a bool reads as true.
func (d *document) parse(v lossless.Value, pointer string, depth int) *schema {
	if s, ok := d.read[pointer]; ok {
		return s
	}
	s := &schema{pointer: pointer, never: v.String() == "false"}
	d.read[pointer] = s
	if depth > maxSchemaDepth {
		return s
	}
	p := parser{d, s, v, pointer, depth}
	for name, member := range v.Members() {
		p.keyword(name, member)
	}
	p.ranges()
	return s
}

// parser reads the keywords of one schema.
type parser struct {
	document *document
	schema   *schema
	value    lossless.Value
	pointer  string
	depth    int
}

func (p parser) child(v lossless.Value, steps ...string) *schema {
	pointer := p.pointer
	for _, step := range steps {
		pointer += "/" + escape(step)
	}
	return p.document.parse(v, pointer, p.depth+1)
}

func (p parser) list(keyword string, v lossless.Value) (list []*schema) {
	for i, element := range v.Elements() {
		list = append(list, p.child(element, keyword, strconv.Itoa(i)))
	}
	return list
}

func (p parser) named(keyword string, v lossless.Value) []property {
	list := []property{} // not nil: the keyword is there
	for name, member := range v.Members() {
		list = append(list, property{name, p.child(member, keyword, name)})
	}
	return list
}

func (p parser) keyword(name string, v lossless.Value) {
	s := p.schema
	switch name {
	case "$ref":
		s.ref = text(v)
	case "$dynamicRef", "$recursiveRef":
		s.dynamicRef = text(v)
	case "type":
		if s.types = texts(v); s.types == nil && v.Kind() == lossless.KindString {
			s.types = []string{text(v)}
		}
	case "nullable":
		s.nullable = v.String() == "true"
	case "enum":
		for _, element := range v.Elements() {
			s.enum = append(s.enum, element)
		}
	case "const":
		s.constant = v
	case "title":
		s.title = text(v)
	case "description":
		s.description = text(v)
	case "format":
		s.format = text(v)
	case "contentEncoding":
		s.encoding = text(v)
	case "default":
		s.fallback = v
	default:
		if !p.container(name, v) {
			p.words(name, v)
		}
	}
}

// container reads a keyword that has schemas in it.
func (p parser) container(name string, v lossless.Value) bool {
	s := p.schema
	switch name {
	case "properties":
		s.properties = p.named(name, v)
	case "required":
		s.required = texts(v)
	case "patternProperties":
		s.patterns = p.named(name, v)
	case "additionalProperties", "unevaluatedProperties":
		if s.additional == nil || name == "additionalProperties" {
			s.additional = p.child(v, name)
		}
	case "prefixItems":
		s.prefix = p.list(name, v)
	case "items":
		if v.Kind() == lossless.KindArray {
			s.prefix = p.list(name, v)
		} else {
			s.items = p.child(v, name)
		}
	case "additionalItems", "unevaluatedItems":
		if s.items == nil && (len(s.prefix) > 0 || p.value.Get("prefixItems").Exists() || p.value.Get("items").Kind() == lossless.KindArray) {
			s.items = p.child(v, name)
		}
	case "allOf":
		s.allOf = p.list(name, v)
	case "anyOf":
		s.anyOf = p.list(name, v)
	case "oneOf":
		s.oneOf = p.list(name, v)
	case "then", "else":
		s.conditional = append(s.conditional, p.child(v, name))
	case "dependentSchemas":
		for _, dependent := range p.named(name, v) {
			s.conditional = append(s.conditional, dependent.schema)
		}
	default:
		return false
	}
	return true
}

// text returns what a string holds, or "" for anything else.
func text(v lossless.Value) string {
	s, _ := v.Text()
	return s
}

// texts returns the strings of an array, or nil for anything else.
func texts(v lossless.Value) (list []string) {
	for _, element := range v.Elements() {
		if s, err := element.Text(); err == nil {
			list = append(list, s)
		}
	}
	return list
}
