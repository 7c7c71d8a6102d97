package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxErrorBody is how much is read of the body of a response that isn't 2xx, in bytes.
const maxErrorBody = 64 << 10

// overHTTP returns the SDK's transport over streamable HTTP. The SDK's connection can't
// be wrapped, since it learns of the session by a method that isn't exported; so what
// it reads is looked at in the bodies of responses.
func (x *session) overHTTP(config Server, base *http.Client) (mcp.Transport, error) {
	endpoint, err := url.Parse(config.URL)
	if err != nil {
		return nil, err
	}
	client := http.Client{}
	if base != nil {
		client = *base
	}
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client.Timeout = 0 // it would end streams; calls end with their context
	client.Transport = &roundTripper{session: x, next: next, endpoint: endpoint, headers: config.Headers}
	return &mcp.StreamableClientTransport{Endpoint: config.URL, HTTPClient: &client, MaxEventSize: -1}, nil
}

// A roundTripper adds the configured headers to requests, and reads the messages in
// responses before the SDK does.
type roundTripper struct {
	session  *session
	next     http.RoundTripper
	endpoint *url.URL
	headers  map[string]string
}

func (t *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	of, _ := request.Context().Value(callKey{}).(*call)
	if request.URL.Scheme == t.endpoint.Scheme && request.URL.Host == t.endpoint.Host {
		// Nowhere else: a redirect must not carry a token away.
		request = request.Clone(request.Context())
		for name, value := range t.headers {
			request.Header.Set(name, value)
		}
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		if of != nil && request.Context().Err() == nil {
			t.session.ask() // whether the server is still there
		}
		return nil, err
	}
	t.filter(request, response, of)
	return response, nil
}

// filter has the messages of a response read first.
func (t *roundTripper) filter(request *http.Request, response *http.Response, of *call) {
	body := response.Body
	if response.StatusCode < 200 || response.StatusCode > 299 {
		response.Body = &boundedBody{io.LimitReader(body, maxErrorBody), body}
		return
	}
	answers := func(int64) *call { return of }
	media, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "text/event-stream":
		events := &eventReader{
			session: t.session, of: of, answers: answers,
			body: body, reader: bufio.NewReaderSize(body, 16<<10),
		}
		if request.Header.Get("Mcp-Method") == "subscriptions/listen" {
			events.atEnd = func() { signal(t.session.lost) }
		}
		response.Body = events
	case "application/json":
		response.Body = &jsonReader{session: t.session, of: of, answers: answers, body: body, request: request}
		response.ContentLength = -1
		response.Header.Del("Content-Length")
	}
}

// sentID returns the id of the call in a request's body.
func sentID(request *http.Request) json.RawMessage {
	unknown := json.RawMessage("0") // no call of the SDK has it
	if request.GetBody == nil {
		return unknown
	}
	body, err := request.GetBody()
	if err != nil {
		return unknown
	}
	defer body.Close()
	var message struct {
		ID json.RawMessage `json:"id"`
	}
	if json.NewDecoder(body).Decode(&message) != nil || !isID(message.ID) {
		return unknown
	}
	return message.ID
}

// A boundedBody is the start of a body.
type boundedBody struct {
	io.Reader
	body io.Closer
}

func (b *boundedBody) Close() error { return b.body.Close() }

// A jsonReader is the body that is one message, as the SDK is to see it.
type jsonReader struct {
	session *session
	of      *call
	answers func(int64) *call
	body    io.ReadCloser
	request *http.Request

	text io.Reader // nil before the first Read
}

func (r *jsonReader) Read(p []byte) (int, error) {
	if r.text == nil {
		whole := collector{limit: MaxMessage}
		if _, err := io.Copy(writer(whole.write), r.body); err != nil {
			return 0, err
		}
		messages := r.session.receive(whole.message(), r.of, r.answers)
		switch {
		case len(messages) > 0:
			r.text = bytes.NewReader(messages[0])
		default:
			r.text = bytes.NewReader(failure(sentID(r.request), "the server's answer is no message, or larger than 32 MiB"))
		}
	}
	return r.text.Read(p)
}

func (r *jsonReader) Close() error { return r.body.Close() }

// writer makes a Writer of a function.
type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// An eventReader is a stream of server-sent events, as the SDK is to see it. Events
// that nothing is left of are left out, but for the id that a stream is resumed by.
type eventReader struct {
	session *session
	of      *call
	answers func(int64) *call
	body    io.ReadCloser
	reader  *bufio.Reader
	atEnd   func() // called when the server ends the stream; may be nil

	ready bytes.Buffer
	err   error
}

func (r *eventReader) Close() error { return r.body.Close() }

func (r *eventReader) Read(p []byte) (int, error) {
	for r.ready.Len() == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.err = r.event(); r.err != nil && r.atEnd != nil {
			r.atEnd()
			r.atEnd = nil
		}
	}
	return r.ready.Read(p)
}

const (
	// maxField is how much is kept of a line of an event that isn't data, in bytes.
	maxField = 8 << 10
	// maxName is how much is kept of a field's name. All that mean something are shorter.
	maxName = 16
)

// event reads one event, and prepares what the SDK is to see of it.
func (r *eventReader) event() error {
	data := collector{limit: MaxMessage}
	lines := 0
	fields := map[string]string{} // those that mean something, so that no server fills it
	for {
		var name []byte // of the field, while it is being read
		var value []byte
		named, empty := false, true
		err := readLine(r.reader, func(piece []byte) {
			empty = empty && len(piece) == 0
			if !named {
				before, after, found := bytes.Cut(piece, []byte(":"))
				name = append(name, before[:min(len(before), maxName-len(name))]...)
				if !found {
					return
				}
				named, piece = true, after
				if string(name) == "data" && lines > 0 {
					data.write([]byte("\n"))
				}
				piece = bytes.TrimPrefix(piece, []byte(" "))
			}
			if string(name) == "data" {
				data.write(piece)
			} else {
				value = append(value, piece[:min(len(piece), maxField-len(value))]...)
			}
		})
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case err != nil || empty:
			r.pass(fields, data.message())
			return err
		case string(name) == "data":
			lines++
		case named && (string(name) == "event" || string(name) == "id" || string(name) == "retry"):
			fields[string(name)] = strings.TrimSpace(string(value))
		}
	}
}

// pass writes an event for the SDK.
func (r *eventReader) pass(fields map[string]string, data []byte) {
	var messages [][]byte
	if kind := fields["event"]; kind == "" || kind == "message" {
		messages = r.session.receive(data, r.of, r.answers)
	}
	for i := range messages[:max(0, len(messages)-1)] {
		r.ready.WriteString("data: " + string(messages[i]) + "\n\n")
	}
	head := r.ready.Len()
	for _, name := range []string{"id", "retry"} {
		if fields[name] != "" {
			r.ready.WriteString(name + ": " + fields[name] + "\n")
		}
	}
	if len(messages) > 0 {
		r.ready.WriteString("data: ")
		r.ready.Write(messages[len(messages)-1])
		r.ready.WriteString("\n")
	}
	if r.ready.Len() > head {
		r.ready.WriteString("\n")
	}
}
