"""Start the course: `python start.py` sets everything up and opens JupyterLab.

This file is written so that every Python can read it, the old ones too: a wrong version gets one
clear sentence. The work is done in mha_course/launcher/, with the standard library only.
"""

import sys

OLDEST = (3, 11)  # ipykernel and matplotlib have nothing for older ones
NEWEST = (3, 14)  # the newest for which every pin in requirements.txt has a wheel


def version_problem(version):
    """What is wrong with this Python version (a tuple), as one sentence; None when nothing is."""
    if OLDEST <= tuple(version[:2]) <= NEWEST:
        return None
    return (
        "This course needs Python %d.%d to %d.%d, and this is Python %d.%d: "
        "install one of those (python.org has them all), then start again with it, "
        "for example `python3.%d start.py`." % (OLDEST + NEWEST + tuple(version[:2]) + (NEWEST[1] - 1,))
    )


def start(arguments):
    """Check the version, hand over to the launcher; returns the exit code."""
    problem = version_problem(sys.version_info)
    if problem:
        sys.stderr.write(problem + "\n")
        return 1
    try:
        import os

        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        try:
            from mha_course.launcher.command import main
        except ImportError:
            sys.stderr.write(
                "The folder mha_course is missing or not whole beside start.py: "
                "get the complete course folder, then start again.\n"
            )
            return 1
        return main(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. Start again to go on from here.\n")
        return 130


if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
