package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// toolsForm is the end of messages about a file of tools.
const toolsForm = `write {"namespaces": {"NS": [{"name": "…", "inputSchema": {"type": "object"}}]}}`

// readTools returns the tools that a file declares.
func readTools(name string, stdin io.Reader) ([]codemode.Tool, error) {
	text, err := readInput("list of tools", name, stdin)
	if err != nil {
		return nil, err
	}
	list, err := lossless.Parse([]byte(strings.TrimPrefix(string(text), byteOrderMark)), lossless.Options{})
	if err != nil {
		return nil, fmt.Errorf("the tools in %q are not JSON that crosses without loss: %w", name, err)
	}
	tools, err := declaredTools(list)
	if err != nil {
		return nil, fmt.Errorf("the tools in %q: %w", name, err)
	}
	if _, err := codemode.New(nil, tools...); err != nil {
		return nil, fmt.Errorf("the tools in %q: %w", name, toolFault(err))
	}
	return tools, nil
}

// toolFault is an error of codemode in the words of the command.
func toolFault(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), codemode.ErrTool.Error()+": "))
}

// declaredTools reads the namespaces of a file.
func declaredTools(list lossless.Value) (tools []codemode.Tool, err error) {
	namespaces := list.Get("namespaces")
	if namespaces.Kind() != lossless.KindObject {
		return nil, errors.New(`there is no object "namespaces"; ` + toolsForm)
	}
	for namespace, declared := range namespaces.Members() {
		if declared.Kind() != lossless.KindArray {
			return nil, fmt.Errorf("the namespace %q is no array of tools; %s", namespace, toolsForm)
		}
		if namespace == "" {
			return nil, errors.New("a namespace has no name; " + toolsForm)
		}
		for i, value := range declared.Elements() {
			tool, err := declaredTool(namespace, i, value)
			if err != nil {
				return nil, err
			}
			tools = append(tools, tool)
		}
	}
	return tools, nil
}

// declaredTool reads one tool.
func declaredTool(namespace string, i int, value lossless.Value) (codemode.Tool, error) {
	where := fmt.Sprintf("tool %d of %q", i+1, namespace)
	if value.Kind() != lossless.KindObject {
		return codemode.Tool{}, fmt.Errorf("%s is no object; %s", where, toolsForm)
	}
	tool := codemode.Tool{Namespace: namespace, InputSchema: value.Get("inputSchema"), OutputSchema: value.Get("outputSchema")}
	command := ""
	for _, field := range []struct {
		name   string
		target *string
	}{{"name", &tool.Name}, {"title", &tool.Title}, {"description", &tool.Description}, {"command", &command}} {
		member := value.Get(field.name)
		if !member.Exists() {
			continue
		}
		text, err := member.Text()
		if err != nil {
			return tool, fmt.Errorf("%s: its %s is no string", where, field.name)
		}
		*field.target = text
	}
	if tool.Name == "" {
		return tool, fmt.Errorf(`%s has no name; give it a member "name"`, where)
	}
	if !value.Get("command").Exists() {
		tool.Handler = withoutCommand
		return tool, nil
	}
	_, _, run, err := parseTool(commandFlag(namespace, tool.Name, command))
	if err != nil {
		return tool, fmt.Errorf("%s: %s", where, strings.TrimPrefix(err.Error(), "--tool "))
	}
	run.name = namespace + "." + tool.Name
	tool.Handler = func(ctx context.Context, args lossless.Value) (codemode.Result, error) {
		result, err := run.call(ctx, args)
		return codemode.Value(result), err
	}
	return tool, nil
}

// commandFlag writes a tool as the flag that has the same command. The names in it
// are for messages alone.
func commandFlag(namespace, name, command string) string {
	plain := strings.NewReplacer("=", "_", ".", "_")
	return plain.Replace(namespace) + "." + plain.Replace(name) + "=" + command
}

func withoutCommand(context.Context, lossless.Value) (codemode.Result, error) {
	return codemode.Result{}, errors.New(`this tool has no command behind it; give it a member "command" in the file of tools`)
}
