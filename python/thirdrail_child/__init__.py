"""The child's side of Thirdrail: what runs inside the interpreter, around the program.

The host compiles these modules once for the interpreter at hand and sends the
code to each child, so nothing here is imported from disk at run time. They load
in the order that python.go lists, and each may import only those before it.
"""
