"""`python -m gquery`: the command line, for those whose scripts are not on the path."""

import sys

from gquery.cli import main

sys.exit(main())
