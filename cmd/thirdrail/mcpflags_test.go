package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/thirdrail-dev/thirdrail"
)

// flagOf is the flag of a field whose name isn't the field's own. Empty means that it
// has none, and the reason stands beside it.
var flagOf = map[string]string{
	"Config.Limits":        "", // each of its fields has one
	"Config.Sandbox":       "", // likewise
	"Config.Logger":        "", // standard error
	"Config.MaxConcurrent": "runs",
	"Sandbox.Mode":         "sandbox",
	"Sandbox.Allow":        "allow-missing",
}

// flagNameOf returns the flag of a field: LogBytes is log-bytes.
func flagNameOf(kind, field string) string {
	if name, special := flagOf[kind+"."+field]; special {
		return name
	}
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(field, "$1-$2"))
}

// aSetting returns a value for a field that no default has, as a flag and as a
// member of a configuration would say it.
func aSetting(field reflect.StructField) (word string, member any) {
	switch kind := field.Type; {
	case kind == reflect.TypeFor[time.Duration]():
		return "7s", "7s"
	case kind == reflect.TypeFor[int64]():
		return "7MiB", "7MiB"
	case kind == reflect.TypeFor[int]():
		return "7", 7
	case kind == reflect.TypeFor[bool]():
		return "true", true
	case kind.Kind() == reflect.Slice:
		return "landlock", []string{"landlock"}
	}
	word = map[string]string{"Python": "python3.7", "Start": "spawn", "Numbers": "double", "Mode": "off"}[field.Name]
	return word, word
}

// settable are the structs whose fields thirdrail mcp sets.
func settable(o *mcpOptions) map[string]any {
	return map[string]any{"Limits": &o.config.Limits, "Sandbox": &o.config.Sandbox, "Config": &o.config}
}

// checkSet: after a field was set, it is, and no other.
func checkSet(t *testing.T, o *mcpOptions, kind, name string) {
	t.Helper()
	if name == "MaxConcurrent" { // this one is made of two flags when it is used
		if o.runs != 7 {
			t.Errorf("runs is %d", o.runs)
		}
		return
	}
	fresh := &mcpOptions{}
	fresh.addFlags(pflag.NewFlagSet("mcp", pflag.ContinueOnError))
	got, before := reflect.ValueOf(settable(o)[kind]).Elem(), reflect.ValueOf(settable(fresh)[kind]).Elem()
	var changed []string
	for i := range got.NumField() {
		if !reflect.DeepEqual(got.Field(i).Interface(), before.Field(i).Interface()) {
			changed = append(changed, got.Type().Field(i).Name)
		}
	}
	if !slices.Equal(changed, []string{name}) {
		t.Errorf("the setting changed %q", changed)
	}
	seven := map[reflect.Type]int64{reflect.TypeFor[time.Duration](): int64(7 * time.Second), reflect.TypeFor[int64](): 7 << 20, reflect.TypeFor[int](): 7}
	if field := got.FieldByName(name); field.CanInt() && seven[field.Type()] > 0 && field.Int() != seven[field.Type()] {
		t.Errorf("it is %v", field)
	}
}

// TestEveryLimitIsSettable fails when the library has a limit, a wall or another
// setting that thirdrail mcp has no flag for, or none in its configuration.
func TestEveryLimitIsSettable(t *testing.T) {
	seen := 0
	for kind, target := range settable(&mcpOptions{}) {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(target).Elem()) {
			name := flagNameOf(kind, field.Name)
			if name == "" {
				continue
			}
			seen++
			word, member := aSetting(field)
			t.Run(kind+"."+field.Name+" by flag", func(t *testing.T) {
				o, flags := &mcpOptions{}, pflag.NewFlagSet("mcp", pflag.ContinueOnError)
				o.addFlags(flags)
				if err := flags.Parse([]string{"--" + name + "=" + word}); err != nil {
					t.Fatal(err)
				}
				checkSet(t, o, kind, field.Name)
			})
			t.Run(kind+"."+field.Name+" by configuration", func(t *testing.T) {
				o, flags := &mcpOptions{}, pflag.NewFlagSet("mcp", pflag.ContinueOnError)
				o.addFlags(flags)
				text, err := json.Marshal(map[string]any{"thirdrail": map[string]any{name: member}})
				if err != nil {
					t.Fatal(err)
				}
				if err := setFlags(flags, text); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				checkSet(t, o, kind, field.Name)
			})
		}
	}
	if least := reflect.TypeFor[thirdrail.Limits]().NumField(); seen < least {
		t.Errorf("%d settings were tried, and there are %d limits alone", seen, least)
	}
}

// TestFlagsGoBeforeTheConfiguration: what is given on the command line stays.
func TestFlagsGoBeforeTheConfiguration(t *testing.T) {
	o, flags := &mcpOptions{}, pflag.NewFlagSet("mcp", pflag.ContinueOnError)
	o.addFlags(flags)
	if err := flags.Parse([]string{"--wall", "3s"}); err != nil {
		t.Fatal(err)
	}
	if err := setFlags(flags, []byte(`{"thirdrail": {"wall": "7s", "cpu": "5s", "deny": ["a.*", "b.c"]}}`)); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(o.config.Limits.Wall, o.config.Limits.CPU, o.deny)
	if got != "3s 5s [a.* b.c]" {
		t.Error(got)
	}
}
