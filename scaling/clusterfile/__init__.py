"""PURE. Iris cluster files: from the parsed mapping of such a file to groups and quota pools.

Standard library and the other pure packages only; reading YAML and storing the result are the caller's.
"""

from scaling.clusterfile.cluster import ClusterImport, PoolImport, read_cluster
from scaling.clusterfile.sections import ClusterFileError

__all__ = ["ClusterFileError", "ClusterImport", "PoolImport", "read_cluster"]
