package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// A tool is a function whose work is done by a command of the user's.
type tool struct {
	name  string   // as the program calls it, NS.NAME
	path  string   // the executable, found once
	words []string // the command line, which starts with the executable's name
	most  int64    // how many bytes it may print
}

// toolForm is the end of messages about a --tool flag.
const toolForm = "write --tool NS.NAME=COMMAND, as in --tool 'db.page=fetch-page --json'"

// toolNamespaces returns the namespaces that --tool flags make together.
func toolNamespaces(flags []string) ([]thirdrail.Namespace, error) {
	var namespaces []thirdrail.Namespace
	byGlobal := map[string]thirdrail.Funcs{}
	for _, flag := range flags {
		global, function, t, err := parseTool(flag)
		if err != nil {
			return nil, err
		}
		funcs, ok := byGlobal[global]
		if !ok {
			funcs = thirdrail.Funcs{}
			byGlobal[global] = funcs
			namespaces = append(namespaces, thirdrail.Namespace{Global: global, Funcs: funcs})
		}
		if funcs[function] != nil {
			return nil, fmt.Errorf("--tool %s is given twice; give each function a name of its own", t.name)
		}
		funcs[function] = t.call
	}
	return namespaces, nil
}

// parseTool reads NS.NAME=COMMAND. The first dot ends NS, the first equals sign
// NAME. The library judges the names.
func parseTool(flag string) (global, function string, t *tool, err error) {
	name, line, ok := strings.Cut(flag, "=")
	if !ok {
		return "", "", nil, fmt.Errorf("--tool %q has no command; %s", flag, toolForm)
	}
	global, function, ok = strings.Cut(name, ".")
	if !ok {
		return "", "", nil, fmt.Errorf("--tool %q has no namespace; %s", flag, toolForm)
	}
	if function == "" {
		return "", "", nil, fmt.Errorf("--tool %q has no function name after the dot; %s", flag, toolForm)
	}
	words, err := shellquote.Split(line)
	if err != nil {
		return "", "", nil, fmt.Errorf("--tool %s: the command %q can't be split into words: %s", name, line, quotingFault(err))
	}
	if len(words) == 0 || words[0] == "" {
		return "", "", nil, fmt.Errorf("--tool %s has an empty command; %s", name, toolForm)
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return "", "", nil, missingCommand(name, words[0], err)
	}
	return global, function, &tool{name, path, words, thirdrail.DefaultLimits().FrameBytes}, nil
}

func quotingFault(err error) string {
	switch err {
	case shellquote.UnterminatedSingleQuoteError:
		return "a single quote is not closed"
	case shellquote.UnterminatedDoubleQuoteError:
		return "a double quote is not closed"
	default:
		return "it ends with a backslash that escapes nothing"
	}
}

// missingCommand says why a command can't be started.
func missingCommand(tool, command string, err error) error {
	reason := err
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		reason = withoutPath(lookup.Err)
	}
	if errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("--tool %s: the command %q was found only by a relative entry of PATH; write ./%s if you mean that one",
			tool, command, command)
	}
	return fmt.Errorf("--tool %s: the command %q can't be used: %w; give the name of an executable on PATH, or its path",
		tool, command, reason)
}

// call is the thirdrail.Func of a tool. Its errors are for the program to read.
func (t *tool) call(ctx context.Context, args lossless.Value) (lossless.Value, error) {
	output, err := t.run(ctx, args.Bytes())
	if err != nil {
		return lossless.Value{}, err
	}
	if len(bytes.TrimSpace(output)) == 0 {
		return lossless.Value{}, fmt.Errorf("the command of %s printed nothing; it must print its result as JSON, null for none", t.name)
	}
	result, err := lossless.Parse(output, lossless.Options{})
	if err != nil {
		return lossless.Value{}, fmt.Errorf("the command of %s printed what is not JSON: %w", t.name, err)
	}
	return result, nil
}
