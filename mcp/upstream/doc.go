// Package upstream connects to other people's MCP servers and offers their tools to
// programs.
//
// [ReadConfig] reads the list of servers that MCP clients use, [Connect] starts and
// connects to all of them, and [Servers.Tools] are their tools for package codemode.
// Each server has one goroutine that keeps it: it starts the server, lists its tools,
// lists them again when the server says that they changed, and starts the server
// again, with growing pauses, when it ends. The last good list of a server stays, so
// its tools stay callable by name; a call while there is no server raises.
//
// # What crosses exactly
//
// The MCP SDK decodes schemas and results into maps and doubles, which loses the
// order of properties and the digits of large integers. So each message is read here
// first: the result of a call goes around the SDK as text, and the SDK gets an empty
// one in its place. Arguments are sent as the text that they are.
//
// # What a server can't do
//
// A message is bounded by MaxMessage. A larger one fails the call that it answers.
// Progress and log notifications are handed on or dropped at once, changes of the
// tool list are counted as one, and a server that has too many requests open is
// ended: nothing that a server sends queues up without bound.
package upstream
