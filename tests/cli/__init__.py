"""The command line and the REPL."""
