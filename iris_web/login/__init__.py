"""The ways in: a password, an OIDC provider, a trusted proxy; how long a login lasts, and when it is asked again."""
