// Package codemode gives a language model one tool that runs Python programs,
// with all other tools as functions that the programs call.
//
// A [Tool] is a name, a description, a JSON Schema for its arguments, perhaps one
// for its result, and a Go function. [New] takes tools and a Runtime and makes a
// [Set]: the definition of the one tool that the model sees, with text that
// teaches it and Python declarations of all tools, and Run, which runs what the
// model wrote. Any agent loop that can offer a tool can use it.
//
// Tools are grouped into namespaces, which are objects among a program's globals:
//
//	rows = await db.query(sql="select 1")
//
// # What crosses
//
// Arguments are checked against the schema before a [Handler] sees them, and
// values keep every digit and the order of members on their way, both ways. A
// tool's error, a wrong argument and a violation of the schema all raise ToolError
// in the program, at the call.
//
// # Results
//
// What a program gets from a call is decided in this order. An error raises. Else
// the structured content is the value; an object {"result": x} is unwrapped where
// the schema or the Result says that it is a wrapper. Else content that is all
// text is that text, taken as JSON when it is an object or an array and the tool
// declares no output schema. Else the value is a list of parts, and parts that
// aren't text are handles with .mime, .size, .read() and .save(). A value that
// breaks the tool's own output schema is handed over all the same, with a warning.
//
// # Names
//
// A namespace, tool or parameter whose name is no identifier of Python, or is a
// word of the language, gets an alias that is, and keeps its true name beside it:
// ns["send-email"](…) and **{"from": …} always work. Names that would meet are
// numbered in the order of their true names, so they are the same tomorrow.
package codemode
