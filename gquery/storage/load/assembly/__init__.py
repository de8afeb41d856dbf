"""From the columns of files to one snapshot."""
