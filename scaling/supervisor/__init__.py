"""What `manage.py up` runs: the checks before, the children it keeps alive, and their end."""
