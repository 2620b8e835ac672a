"""Notices: what an operator away from the pages is told, once, and told again when it is over.

`kinds`, `findings`, `news`, `messages`, `addresses` and `retries` are pure. `facts` reads what is stored, `keeping`
stores what is news, `courier` delivers it, and `watchman` runs both in every web and every ticker process.
"""
