package mcp

import (
	"encoding/json"
	"math"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Members of the _meta of run_code's result.
const (
	// metaResults lists the _meta that results of servers came with, in the order in
	// which they came: {"server": …, "tool": …, "_meta": {…}}.
	metaResults = "thirdrail.dev/results"
	// metaLeftOut is how many of them, the oldest, are left out.
	metaLeftOut = "thirdrail.dev/resultsLeftOut"
)

const (
	// maxMetas and maxMetaBytes bound metaResults; maxMetaBytes is in bytes.
	maxMetas     = 100
	maxMetaBytes = 256 << 10
)

// metas are what results of servers came with in _meta. The zero value is ready.
type metas struct {
	mu   sync.Mutex
	list []resultMeta
	size int
	left int
}

type resultMeta struct {
	Server string          `json:"server"`
	Tool   string          `json:"tool"`
	Meta   json.RawMessage `json:"_meta"`
}

// add keeps the _meta of a result, if it has one. The newest stay.
func (m *metas) add(server, tool string, meta lossless.Value) {
	if !meta.Exists() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	text := meta.Clone().Bytes() // without what it was a part of
	m.list = append(m.list, resultMeta{server, tool, text})
	m.size += len(text)
	for m.size > maxMetaBytes || len(m.list) > maxMetas {
		m.size -= len(m.list[0].Meta)
		m.list = m.list[1:]
		m.left++
	}
}

// meta returns the _meta of a run's result, nil for none.
func (m *metas) meta() sdk.Meta {
	m.mu.Lock()
	defer m.mu.Unlock()
	meta := sdk.Meta{}
	if len(m.list) > 0 {
		meta[metaResults] = m.list
	}
	if m.left > 0 {
		meta[metaLeftOut] = m.left
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}

// exactMeta returns the members of a request's _meta that were read exactly.
func exactMeta(meta sdk.Meta) map[string]any {
	exact := map[string]any{}
	for name, value := range meta {
		if isExact(value) {
			exact[name] = value
		}
	}
	return exact
}

// isExact tells whether a value is what was sent, as far as can be told: a double may
// stand for another number where it is large.
func isExact(value any) bool {
	switch value := value.(type) {
	case float64:
		return math.Abs(value) <= 1<<53
	case []any:
		for _, element := range value {
			if !isExact(element) {
				return false
			}
		}
	case map[string]any:
		for _, member := range value {
			if !isExact(member) {
				return false
			}
		}
	}
	return true
}

// Meta is the _meta of the request that hears the run, or heard it last.
func (r *run) Meta() map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.meta
}
