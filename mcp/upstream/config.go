package upstream

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// maxConfig bounds the text of a configuration, in bytes.
const maxConfig = 4 << 20

// Config is a list of servers.
type Config struct {
	// Servers are in the order of the file.
	Servers []Server
}

// Server is how one server is reached: by a Command that is started, or at a URL.
type Server struct {
	// Name is the namespace of the server's tools.
	Name string
	// Command is the program to start, found by PATH, and Args are its arguments. It
	// speaks MCP on its standard input and output.
	Command string
	Args    []string
	// Env is added to this process's own environment.
	Env map[string]string
	// Dir is the command's working directory. Empty means this process's own.
	Dir string
	// URL is the endpoint of a server with the streamable HTTP transport, and Headers
	// are sent with each request to that host.
	URL     string
	Headers map[string]string
	// Disabled servers are left alone.
	Disabled bool
}

// form is the end of messages about a whole configuration.
const form = `write {"mcpServers": {"NAME": {"command": "…", "args": ["…"]}, "NAME2": {"url": "https://…"}}}`

// ReadConfig reads the JSON form that MCP clients use: an object "mcpServers" (or
// "servers", as VS Code has it) with a member for each server. ${VAR}, ${env:VAR} and
// ${VAR:-default} in command, args, env, cwd, url and headers stand for variables of
// this process's environment. Members that it doesn't know are left alone. An error
// is one line that names the server and the member at fault.
func ReadConfig(r io.Reader) (Config, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxConfig+1))
	if err != nil {
		return Config{}, err
	}
	if len(text) > maxConfig {
		return Config{}, fmt.Errorf("the list of servers has more than %d bytes", maxConfig)
	}
	list, err := lossless.Parse([]byte(strings.TrimPrefix(string(text), "\uFEFF")), lossless.Options{})
	if err != nil {
		return Config{}, fmt.Errorf("the list of servers is not JSON: %w", err)
	}
	name := "mcpServers"
	if !list.Get(name).Exists() && list.Get("servers").Exists() {
		name = "servers"
	}
	servers := list.Get(name)
	if servers.Kind() != lossless.KindObject {
		return Config{}, fmt.Errorf("there is no object %q; %s", "mcpServers", form)
	}
	var config Config
	for name, value := range servers.Members() {
		server, err := readServer(name, value)
		if err != nil {
			return Config{}, fmt.Errorf("the server %q: %w", name, err)
		}
		config.Servers = append(config.Servers, server)
	}
	return config, nil
}

// readServer reads one server.
func readServer(name string, value lossless.Value) (Server, error) {
	server := Server{Name: name}
	if value.Kind() != lossless.KindObject {
		return server, errors.New(`it is no object; write {"command": "…"} or {"url": "…"}`)
	}
	disabled := value.Get("disabled")
	if disabled.Exists() {
		var err error
		if server.Disabled, err = disabled.Bool(); err != nil {
			return server, errors.New(`"disabled" is neither true nor false`)
		}
	}
	if server.Disabled {
		return server, nil // what it needs, such as variables, may not be there
	}
	transport := ""
	for _, read := range []error{
		readText(value, "type", &transport),
		readText(value, "command", &server.Command),
		readText(value, "cwd", &server.Dir),
		readText(value, "url", &server.URL),
		readTexts(value, "args", &server.Args),
		readMap(value, "env", &server.Env),
		readMap(value, "headers", &server.Headers),
	} {
		if read != nil {
			return server, read
		}
	}
	switch transport {
	case "", "stdio", "http", "streamable-http", "streamableHttp":
	case "sse":
		return server, errors.New(`"type" is "sse", a transport that MCP gave up; give the URL of the server's streamable HTTP endpoint, and write "http"`)
	default:
		return server, fmt.Errorf(`"type" is %q; write "stdio" or "http", or leave it out`, transport)
	}
	return server, server.check()
}

// check tells what is wrong with a server.
func (s Server) check() error {
	switch {
	case s.Name == "":
		return errors.New("it has no name; give it one")
	case s.Command == "" && s.URL == "":
		return errors.New(`it has no "command" and no "url"; give it one of them`)
	case s.Command != "" && s.URL != "":
		return errors.New(`it has a "command" and a "url"; leave one of them out`)
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fmt.Errorf(`"env" has a variable %q that no environment can hold`, name)
		}
	}
	for _, text := range append([]string{s.Command, s.Dir}, s.Args...) {
		if strings.Contains(text, "\x00") {
			return fmt.Errorf("%q holds a NUL, which no command line can", text)
		}
	}
	if s.URL == "" {
		return nil
	}
	where, err := url.Parse(s.URL)
	if err != nil || where.Scheme != "http" && where.Scheme != "https" || where.Host == "" {
		return fmt.Errorf(`"url" is %q; write http://HOST/… or https://HOST/…`, s.URL)
	}
	for name, value := range s.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf(`"headers" has %q, which is no header or has a value that none can have`, name)
		}
	}
	return nil
}

// readText reads a member that is a string, if it is there.
func readText(value lossless.Value, name string, into *string) (err error) {
	member := value.Get(name)
	if !member.Exists() {
		return nil
	}
	text, err := member.Text()
	if err != nil {
		return fmt.Errorf("%q is no string", name)
	}
	*into, err = expand(name, text)
	return err
}

// readTexts reads a member that is an array of strings, if it is there.
func readTexts(value lossless.Value, name string, into *[]string) error {
	member := value.Get(name)
	if member.Exists() && member.Kind() != lossless.KindArray {
		return fmt.Errorf(`%q is no array of strings`, name)
	}
	for i, element := range member.Elements() {
		text, err := element.Text()
		if err != nil {
			return fmt.Errorf("%q is no array of strings: element %d is %s", name, i, element.Kind())
		}
		if text, err = expand(fmt.Sprintf("%s[%d]", name, i), text); err != nil {
			return err
		}
		*into = append(*into, text)
	}
	return nil
}

// readMap reads a member that is an object of strings, if it is there.
func readMap(value lossless.Value, name string, into *map[string]string) error {
	member := value.Get(name)
	if member.Exists() && member.Kind() != lossless.KindObject {
		return fmt.Errorf("%q is no object of strings", name)
	}
	for key, element := range member.Members() {
		text, err := element.Text()
		if err != nil {
			return fmt.Errorf("%q: the value of %q is %s; write a string", name, key, element.Kind())
		}
		if text, err = expand(name+"."+key, text); err != nil {
			return err
		}
		if *into == nil {
			*into = map[string]string{}
		}
		(*into)[key] = text
	}
	return nil
}
