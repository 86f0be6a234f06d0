"""`python -m memkit`: the command line, where the `memkit` script is not on the PATH."""

from memkit.cli import main

if __name__ == "__main__":
    main(prog_name="python -m memkit")
