package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type channel struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Topic   string `json:"topic"`
	Members int    `json:"members"`
}

type channelsResult struct {
	Channels []channel `json:"channels"`
}

type messageQuery struct {
	Channel string `json:"channel" jsonschema:"the name of the channel, as #general"`
	Text    string `json:"text" jsonschema:"the message, in Markdown"`
	Thread  string `json:"thread,omitempty" jsonschema:"the id of a message to answer to"`
}

// A message is what was posted. Its id is made of what it says, so that equal ids mean
// equal messages.
type message struct {
	ID      string `json:"id"`
	Channel string `json:"channel"`
	Link    string `json:"link"`
}

// channels are those that there are.
var channels = []channel{
	{"C01", "#general", "For everybody", 212},
	{"C02", "#triage", "What came in, and who takes it", 31},
	{"C03", "#releases", "What goes out", 87},
}

// newChat returns a server with the tools of a chat.
func newChat() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "chat", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "list_channels", Description: "List the channels that you can post to."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, channelsResult, error) {
			return nil, channelsResult{channels}, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "post_message", Description: "Post a message to a channel, or to a thread of it."},
		func(_ context.Context, _ *mcp.CallToolRequest, q messageQuery) (*mcp.CallToolResult, message, error) {
			for _, c := range channels {
				if c.Name == q.Channel {
					return nil, posted(q), nil
				}
			}
			return nil, message{}, fmt.Errorf("there is no channel %q", q.Channel)
		})
	return server
}

func posted(q messageQuery) message {
	sum := sha256.Sum256([]byte(q.Channel + "\x00" + q.Thread + "\x00" + q.Text))
	id := "msg_" + hex.EncodeToString(sum[:8])
	return message{id, q.Channel, "https://chat.example/" + id}
}
