"""The admin: limits, deployments, quotas, notices, tokens, people. Every save goes through `scaling.operations`."""

from scaling.admin import deployments, groups, notices, pools, queue, tokens, users

__all__ = ["deployments", "groups", "notices", "pools", "queue", "tokens", "users"]
