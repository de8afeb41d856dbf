"""What the command line and the REPL share: reading what is typed, showing what is answered."""
