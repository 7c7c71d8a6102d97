// Package mcp serves Code Mode over the Model Context Protocol: one tool,
// run_code, whose programs call the tools of other servers.
//
// A [Server] is made of a Runtime and a [Source], which gives the tools: usually
// the servers of a user's configuration, package upstream. It serves any number of
// clients, over standard input and output ([Server.ServeIO]) or HTTP
// ([Server.Handler]). Clients share the servers behind it, and not each other's
// runs.
//
// # What a client sees
//
// The description of run_code is package codemode's, and says which servers can't
// be reached. What a program prints comes as progress, where the request has a
// token for it, and as log notifications, where the client has set a level.
// Cancelling the request aborts the run and its calls. The result has structured
// content, [Report], and a text of bounded size for a model.
//
// # Who may call what
//
// A [Policy] allows, denies or asks for each tool. A denied tool is in no
// catalogue. To ask, the client's user is elicited; where the client can't, the
// program gets a ToolError that says so. The run's wall clock stands still while a
// question is open, and the program's process waits, so no call is made twice.
//
// Up to protocol 2025-11-25, a question is a request of the server's in the middle
// of the call. From 2026-07-28 on it is a result: the run is parked under a token,
// which only the same client can redeem, once, with the same program.
package mcp
