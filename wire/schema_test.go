package wire

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// schema is a JSON schema as encoding/json decodes it: what a frame's struct
// says, in the words that testdata/mirror.py uses for a TypedDict.
type schema = map[string]any

// frameSchemas describes frames by type. A type with more than one shape has
// more than one schema, in the order of the list.
func frameSchemas(frames []Frame) map[string]any {
	found := map[string]any{}
	for _, f := range frames {
		shapes, _ := found[f.FrameType()].([]any)
		found[f.FrameType()] = append(shapes, structSchema(reflect.TypeOf(f).Elem()))
	}
	return found
}

func structSchema(t reflect.Type) schema {
	properties := schema{}
	required := []string{}
	for field := range declaredFields(t) {
		properties[field.name] = field.schema
		if field.required {
			required = append(required, field.name)
		}
	}
	slices.Sort(required)
	list := []any{}
	for _, name := range required {
		list = append(list, name)
	}
	return schema{"title": t.Name(), "type": "object", "properties": properties, "required": list}
}

// declaredField is one member that a struct declares.
type declaredField struct {
	name     string
	schema   schema
	required bool
}

func declaredFields(t reflect.Type) func(yield func(declaredField) bool) {
	return func(yield func(declaredField) bool) {
		for field := range t.Fields() {
			if field.Tag.Get("json") == "-" {
				continue
			}
			if !yield(declare(field)) {
				return
			}
		}
	}
}

func declare(field reflect.StructField) declaredField {
	narrow := field.Tag.Get("wire")
	if field.Name == "_" {
		name, literal, ok := strings.Cut(narrow, "=")
		if !ok {
			panic("blank field without name=literal: " + narrow)
		}
		return declaredField{name, literalSchema(literal), true}
	}
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	d := declaredField{name: name, required: options == ""}
	switch narrow {
	case "":
		d.schema = typeSchema(field.Type)
	case "true":
		d.schema = literalSchema(narrow)
	case "object":
		d.schema = schema{"type": "object"}
	default:
		panic("unknown wire tag: " + narrow)
	}
	return d
}

func literalSchema(literal string) schema {
	if literal == "true" || literal == "false" {
		return schema{"enum": []any{literal == "true"}}
	}
	return schema{"enum": []any{literal}}
}

func typeSchema(t reflect.Type) schema {
	if enum, ok := reflect.Zero(t).Interface().(interface{ literals() []string }); ok {
		values := []any{}
		for _, v := range enum.literals() {
			values = append(values, v)
		}
		return schema{"enum": values}
	}
	if t == reflect.TypeFor[lossless.Value]() {
		return schema{}
	}
	switch t.Kind() {
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Int64:
		return schema{"type": "integer"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Slice:
		return schema{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.Struct:
		return structSchema(t)
	}
	panic(fmt.Sprintf("no schema for %v", t))
}
