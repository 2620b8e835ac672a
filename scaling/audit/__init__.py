"""The history of actions as evidence: sealed, verified, searched, archived."""
