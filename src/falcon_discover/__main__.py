"""`python -m falcon_discover` is the same as `falcon-discover`."""

from falcon_discover.cli import main

main()
