"""The admin: groups, quota pools, tokens, people. Every save goes through `scaling.operations`, as everywhere."""

from scaling.admin import groups, pools, queue, tokens, users

__all__ = ["groups", "pools", "queue", "tokens", "users"]
