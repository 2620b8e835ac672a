"""Reads one cluster file for the commands: bounded in size, YAML or JSON, no key twice; raises BadFile."""

import os
import stat

from scaling.clusterfile import ClusterFileError, ClusterImport, read_cluster
from scaling.management.scenario_files import BadFile, read_documents

MAX_FILE_BYTES = 4 * 2**20


def load_cluster(path: str) -> ClusterImport:
    """The file, understood; raises BadFile with a line for each fault: the file, the place and what was expected."""
    _check_size(path)
    documents = read_documents([path], "a cluster file")
    if len(documents) > 1:
        raise BadFile(f"{path}: expected one document, got {len(documents)}")
    try:
        return read_cluster(documents[0].content)
    except ClusterFileError as error:
        raise BadFile("\n".join(str(documents[0].error(fault)) for fault in error.faults)) from None


def _check_size(path: str) -> None:
    """Before anything is read: a file without an end, or a huge one, is never loaded."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name has a NUL"
        raise BadFile(f"{path!r}: expected a file that can be read: {reason}") from None
    if not stat.S_ISREG(found.st_mode):
        raise BadFile(f"{path}: expected a regular file")
    if found.st_size > MAX_FILE_BYTES:
        raise BadFile(f"{path}: expected at most {MAX_FILE_BYTES:,} bytes, got {found.st_size:,}")
