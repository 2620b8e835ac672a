"""A fleet to run against: a Gateway, replicas under load, and a stand-in for Prometheus (docs/gateway.md).

`latency`, `histogram`, `load`, `spec`, `fleet` and `history` are the model: no I/O and no clock, so the same fleet runs
in virtual time (benchmarks) and live (`python -m scaling.testing.fleet`). The rest makes it a program.
"""
