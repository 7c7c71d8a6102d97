package upstream

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// resultOf reads the result of a call as the server sent it.
func resultOf(raw lossless.Value) (codemode.Result, error) {
	if raw.Kind() != lossless.KindObject {
		return codemode.Result{}, errors.New("the server's result is no object")
	}
	var result codemode.Result
	result.IsError, _ = raw.Get("isError").Bool()
	if structured := raw.Get("structuredContent"); structured.Exists() && structured.Kind() != lossless.KindNull {
		result.Structured = structured
	}
	wrap := raw.Get("_meta").Get("fastmcp").Get("wrap_result")
	result.Wrapped, _ = wrap.Bool()
	result.Meta = metaOf(raw.Get("_meta"))
	for i, block := range raw.Get("content").Elements() {
		content, err := contentOf(block)
		if err != nil {
			return result, fmt.Errorf("the server's result can't be read: content[%d]: %w", i, err)
		}
		result.Content = append(result.Content, content)
	}
	return result, nil
}

// contentOf reads one part of a result. A part of a kind that has no text and no bytes
// is handed over as the JSON that it is.
func contentOf(block lossless.Value) (codemode.Content, error) {
	kind, _ := block.Get("type").Text()
	switch kind {
	case "text":
		return text(block.Get("text"))
	case "image", "audio":
		return data(block.Get("data"), block.Get("mimeType"), "")
	case "resource":
		resource := block.Get("resource")
		uri, _ := resource.Get("uri").Text()
		switch {
		case resource.Get("text").Exists():
			return text(resource.Get("text"))
		case resource.Get("blob").Exists():
			return data(resource.Get("blob"), resource.Get("mimeType"), fileName(uri))
		}
	}
	return codemode.Content{Text: block.String()}, nil
}

func text(value lossless.Value) (codemode.Content, error) {
	text, err := value.Text()
	if err != nil {
		return codemode.Content{}, fmt.Errorf("its text: %w", err)
	}
	return codemode.Content{Text: text}, nil
}

func data(value, mime lossless.Value, name string) (codemode.Content, error) {
	encoded, err := value.Text()
	if err != nil {
		return codemode.Content{}, fmt.Errorf("its data: %w", err)
	}
	content := codemode.Content{Name: name}
	if content.MIME, _ = mime.Text(); content.MIME == "" {
		content.MIME = "application/octet-stream"
	}
	if content.Data, err = base64.StdEncoding.DecodeString(encoded); err != nil {
		// Some servers leave the padding out.
		unpadded := strings.TrimRight(encoded, "=")
		if content.Data, err = base64.RawStdEncoding.DecodeString(unpadded); err != nil {
			return codemode.Content{}, fmt.Errorf("its data are not base64: %w", err)
		}
	}
	return content, nil
}

// fileName returns the last part of a URI's path, if it has one.
func fileName(uri string) string {
	uri, _, _ = strings.Cut(uri, "?")
	uri, _, _ = strings.Cut(uri, "#")
	if _, after, found := strings.Cut(uri, "://"); found {
		uri = after
	}
	if name := path.Base(uri); name != "." && name != "/" {
		return name
	}
	return ""
}
