// Package wire is the protocol between a Thirdrail host and its child: JSON
// lines on file descriptor 3, one frame a line. The page wire.md explains it
// for whoever writes either side in another language.
//
// # Model
//
// A frame is one JSON object that says what it is in its member "type". The
// host sends [Boot], [Run] and replies ([ReplyValue], [ReplyError]); the child
// sends [BootAck], [Call], [Log] and [Done]. The structs declare the fields:
// their names, what is optional and of which type. A test compares them with
// the TypedDicts that the Python child declares.
//
//   - [Reader] cuts a stream into lines, in bounded memory.
//   - [DecodeChild] and [Decoder] turn a line into a frame.
//   - [Append] turns a frame into a line.
//
// # Trust
//
// The program that a child runs can write anything to descriptor 3, so a line
// from a child is an attack until it is decoded. Decoding validates the whole
// line and rebuilds the frame from its declared fields: members that are not
// declared are checked as JSON and then forgotten. A line that is not a frame is
// an error value, never a panic, and the error quotes at most a short prefix.
// What is kept is copied out of the line once, so the line's buffer can be used
// again.
//
// # How a struct declares a frame
//
// The json tag gives a field's name; omitempty or omitzero makes it optional;
// "-" keeps a field off the wire. The wire tag narrows the type that Go's own
// type gives: "true" is that literal alone, and "object" is any JSON object. A
// blank field declares a member that is always the same, such as type=log.
package wire
