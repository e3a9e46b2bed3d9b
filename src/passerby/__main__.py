"""`python -m passerby`: the command line."""

import sys

from passerby.cli import main

# Workers import this module anew: only the first process is to run it.
if __name__ == "__main__":
    sys.exit(main())
