"""The command `falcon-discover`, also as `python -m falcon_discover`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded ends it without a traceback."""
    try:
        from falcon_discover.cli import main as run

        run()
    except KeyboardInterrupt:
        print("Interrupted. Nothing was written.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
