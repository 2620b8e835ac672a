"""A writer process for tests: publishes `count` events on topic `writer:<name>`, some in longer transactions."""

import os
import random
import sys
import time

import django


def main(name: str, count: int) -> None:
    from django.db import transaction

    from scaling import feed

    dice = random.Random(name)
    for n in range(count):
        with transaction.atomic():
            feed.publish(f"writer:{name}", "wrote", {"n": n})
            if dice.random() < 0.1:
                time.sleep(dice.random() * 0.02)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iris_web.settings")
    django.setup()
    main(sys.argv[1], int(sys.argv[2]))
