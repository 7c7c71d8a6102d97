package upstream

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// variable is ${VAR}, ${env:VAR}, ${VAR:-default} or ${input:NAME}. What else begins
// with a dollar sign is left as it is.
var variable = regexp.MustCompile(`\$\{(?:(env|input):)?([A-Za-z_][A-Za-z0-9_-]*)(:-[^}]*)?\}`)

// expand puts the values of environment variables into text. Place names the member.
func expand(place, text string) (string, error) {
	var fault error
	text = variable.ReplaceAllStringFunc(text, func(match string) string {
		parts := variable.FindStringSubmatch(match)
		kind, name, rest := parts[1], parts[2], parts[3]
		value, set := os.LookupEnv(name)
		switch {
		case kind == "input":
			fault = fmt.Errorf("%q asks the user by %s, which only an editor can; write ${VAR} and set the variable", place, match)
		case rest != "" && value == "": // as a shell has it, empty is like unset
			return strings.TrimPrefix(rest, ":-")
		case !set:
			fault = fmt.Errorf("%q needs the environment variable %s, which isn't set; set it, or write ${%s:-default}", place, name, name)
		}
		return value
	})
	return text, fault
}
