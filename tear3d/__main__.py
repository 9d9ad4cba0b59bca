"""`python -m tear3d`: the command `tear3d`."""

from tear3d.cli import main

if __name__ == "__main__":
    main()
