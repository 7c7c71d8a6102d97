package mcp

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
)

// Call is how often a program called a tool.
type Call struct {
	// Server and Tool are the true names.
	Server string `json:"server"`
	Tool   string `json:"tool"`
	// Count is how many calls reached the server.
	Count int `json:"count"`
	// Milliseconds is how long they took together.
	Milliseconds float64 `json:"ms"`
}

// calls counts the calls of a run. The zero value is ready.
type calls struct {
	mu   sync.Mutex
	made map[[2]string]*call
}

type call struct {
	count int
	spent time.Duration
}

// begin counts a call, and returns what ends it.
func (c *calls) begin(server, tool string) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made = map[[2]string]*call{}
	}
	one := c.made[[2]string{server, tool}]
	if one == nil {
		one = &call{}
		c.made[[2]string{server, tool}] = one
	}
	one.count++
	began := time.Now()
	return func() {
		spent := time.Since(began)
		c.mu.Lock()
		defer c.mu.Unlock()
		one.spent += spent
	}
}

// list returns the calls so far, sorted by name.
func (c *calls) list() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := []Call{}
	for names, one := range c.made {
		ms := math.Round(float64(one.spent)/float64(time.Microsecond)) / 1000
		list = append(list, Call{Server: names[0], Tool: names[1], Count: one.count, Milliseconds: ms})
	}
	slices.SortFunc(list, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	return list
}
