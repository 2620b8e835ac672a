"""The replica scaler, live (REPLICAS section 1): syncer, manager, scaler, lifecycle.

Read `scaler` first. The decision itself is `scaling.replicas`; here it is fed, its calls are written down before they
are sent, and what came of them is kept.
"""
