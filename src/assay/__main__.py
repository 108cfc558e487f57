"""`python -m assay` is `assay`."""

from assay.cli.start import run

if __name__ == "__main__":
    run()
