"""`python -m assay` is `assay`."""

import sys

if __name__ == "__main__":
    # `-m` puts the working directory first on the path: a file of the user's, such as select.py, would be imported.
    if not sys.flags.safe_path:
        del sys.path[0]
    from assay.cli.start import run

    run()
