package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

const (
	// maxOpen is how many requests a server may have open.
	maxOpen = 256
	// maxStrange is how many requests that no client knows a server may send.
	maxStrange = 256
)

// Members that receive puts into "_meta" for the SDK to carry.
const (
	metaSchema = "thirdrail.dev/requestedSchema" // the schema of an elicitation, as text
	metaCall   = "thirdrail.dev/call"            // the call that a request came with
)

// receive reads a message of the server before the SDK does, and returns what the SDK
// is to see of it. Of is the call whose answer it came with, if that is known; answers
// finds the call that an id belongs to.
//
// What the SDK would decode with loss goes around it here, and so does what it would
// queue without bound.
func (x *session) receive(text []byte, of *call, answers func(id int64) *call) [][]byte {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	message, err := lossless.Parse(text, lossless.Options{})
	if err != nil {
		return x.malformed(text, err)
	}
	switch {
	case message.Kind() == lossless.KindArray: // a batch, as one old version has them
		var all [][]byte
		for _, one := range message.Elements() {
			if one.Kind() == lossless.KindObject {
				all = append(all, x.receive(one.Bytes(), of, answers)...)
			}
		}
		return all
	case message.Kind() != lossless.KindObject:
		return x.malformed(text, fmt.Errorf("a message is an object, and this is %s", message.Kind()))
	case message.Get("method").Exists() && message.Get("id").Exists():
		return x.request(message, of)
	case message.Get("method").Exists():
		return x.notification(message, of)
	case message.Get("result").Exists():
		return x.result(message, answers)
	}
	return [][]byte{message.Bytes()}
}

// malformed deals with what is no message, such as a greeting that a server prints.
// What answers a call all the same fails that call.
func (x *session) malformed(text []byte, reason error) [][]byte {
	var answer struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
	}
	if json.Unmarshal(text, &answer) == nil && answer.Method == nil && isID(answer.ID) {
		return [][]byte{failure(answer.ID, "the server's answer can't cross without loss: "+reason.Error())}
	}
	x.noise.say(x.server.log, "the server printed what is no message", "text", short(text), "reason", reason)
	return nil
}

// short returns the start of a text, for messages.
func short(text []byte) string {
	if len(text) > 200 {
		return string(bytes.ToValidUTF8(text[:200], []byte("\uFFFD"))) + "…"
	}
	return string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
}

// result keeps the result of a call, and returns the message without it.
func (x *session) result(message lossless.Value, answers func(int64) *call) [][]byte {
	number, err := message.Get("id").Int64()
	if err != nil {
		return nil // no id of ours
	}
	c, result := answers(number), message.Get("result")
	if c == nil || result.Kind() != lossless.KindObject {
		return [][]byte{message.Bytes()} // of the handshake, or nobody waits for it
	}
	if questions := result.Get("inputRequests"); questions.Kind() == lossless.KindObject {
		return [][]byte{answer(number, replaced(result, "inputRequests", withSchemas(questions, c)))}
	}
	c.keep(result)
	return [][]byte{answer(number, []byte(`{"content":[],"tools":`+headerTools(result)+`}`))}
}

// headerTools returns those tools of a list that ask for arguments in HTTP headers,
// which the SDK sends.
func headerTools(result lossless.Value) string {
	tools := []byte("[")
	for _, tool := range result.Get("tools").Elements() {
		name, schema := tool.Get("name"), tool.Get("inputSchema")
		if !asksForHeaders(schema) || name.Kind() != lossless.KindString {
			continue
		}
		if len(tools) > 1 {
			tools = append(tools, ',')
		}
		tools = append(tools, `{"name":`+name.String()+`,"inputSchema":`+schema.String()+`}`...)
	}
	return string(append(tools, ']'))
}

func asksForHeaders(schema lossless.Value) bool {
	return bytes.Contains(schema.Bytes(), []byte(`"x-mcp-header"`))
}

// answer returns the message with a result.
func answer(id int64, result []byte) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + strconv.FormatInt(id, 10) + `,"result":` + string(result) + `}`)
}

// replaced returns an object whose member name is value instead.
func replaced(object lossless.Value, name string, value []byte) []byte {
	return edited(object, func(member string, old lossless.Value) []byte {
		if member == name {
			return value
		}
		return old.Bytes()
	})
}

// edited returns an object with other values of its members. One whose value is nil
// is left out.
func edited(object lossless.Value, edit func(name string, value lossless.Value) []byte) []byte {
	text := []byte("{")
	for name, value := range object.Members() {
		quoted, err := lossless.Of(name)
		with := edit(name, value)
		if err != nil || with == nil {
			continue // a name that Go can't hold is none that the SDK knows
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(text, quoted.Bytes()...), ':')
		text = append(text, with...)
	}
	return append(text, '}')
}

// withSchemas returns the questions of a result with their schemas kept as text.
func withSchemas(questions lossless.Value, of *call) []byte {
	return edited(questions, func(_ string, question lossless.Value) []byte {
		if question.Get("method").String() != `"elicitation/create"` {
			return question.Bytes()
		}
		return replaced(question, "params", withSchema(question.Get("params"), of))
	})
}

// withSchema returns the params of an elicitation with its schema as text, whose
// properties the SDK would put in another order, and with the call that it came with.
func withSchema(params lossless.Value, of *call) []byte {
	if params.Kind() != lossless.KindObject {
		return []byte("{}")
	}
	meta := map[string]string{}
	if schema := params.Get("requestedSchema"); schema.Exists() {
		meta[metaSchema] = schema.String()
	}
	if of != nil {
		meta[metaCall] = of.token
	}
	text, err := lossless.Of(meta)
	if err != nil {
		return params.Bytes() // a lone surrogate: the SDK may have it as it is
	}
	if params.Get("_meta").Exists() {
		return replaced(params, "_meta", text.Bytes())
	}
	with := bytes.TrimSuffix(params.Clone().Bytes(), []byte("}"))
	if params.Len() > 0 {
		with = append(with, ',')
	}
	return append(append(append(with, `"_meta":`...), text.Bytes()...), '}')
}

// request counts a request of the server, and prepares it for the SDK.
func (x *session) request(message lossless.Value, of *call) [][]byte {
	method, _ := message.Get("method").Text()
	known := false
	switch method {
	case "ping", "roots/list", "sampling/createMessage", "elicitation/create":
		known = true
	}
	x.mu.Lock()
	open := &x.open
	most := maxOpen
	if !known {
		open, most = &x.strange, maxStrange
	}
	*open++
	over := *open > most
	x.mu.Unlock()
	if over {
		x.fail(fmt.Errorf("it sent %d requests without waiting for an answer", most))
		return nil
	}
	if method == "elicitation/create" {
		return [][]byte{replaced(message, "params", withSchema(message.Get("params"), of))}
	}
	return [][]byte{message.Bytes()}
}

// notification acts on a notification, and returns it only where the SDK has to know.
func (x *session) notification(message lossless.Value, of *call) [][]byte {
	method, _ := message.Get("method").Text()
	params := message.Get("params")
	switch method {
	case "notifications/progress":
		token, _ := params.Get("progressToken").Text()
		if c := x.find(token); c != nil {
			c.progressed(params)
		}
	case "notifications/message":
		x.logged(params, of)
	case "notifications/tools/list_changed":
		x.ask()
	case "notifications/cancelled":
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.open > 0 {
			return [][]byte{message.Bytes()}
		}
	}
	return nil
}
