"""The web application: pages and API over HTTP, live updates over `/ws/live`."""

import gc
import os
from importlib import import_module

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import WebsocketDenier
from channels.sessions import CookieMiddleware
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.urls import path, re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iris_web.settings")
http = get_asgi_application()

# After the application is set up: these read models and settings.
from iris_web.body_limit import BodyLimit  # noqa: E402
from iris_web.live.consumer import LiveConsumer  # noqa: E402
from iris_web.live.origin import own_pages_only  # noqa: E402
from iris_web.security import HeadersOfEveryAnswer  # noqa: E402

# The pages register their live fragments when they are imported.
import_module(settings.ROOT_URLCONF)

sockets = [path("ws/live", LiveConsumer.as_asgi()), re_path("", WebsocketDenier.as_asgi())]
application = HeadersOfEveryAnswer(
    ProtocolTypeRouter(
        {
            "http": BodyLimit(http),
            "websocket": own_pages_only(CookieMiddleware(URLRouter(sockets))),
        }
    )
)

# All that was loaded stays to the end. Looking through it again and again would take longer than most pages.
gc.collect()
gc.freeze()
# A page makes tens of thousands of objects that go as it does: they are not looked through after every few hundred.
gc.set_threshold(10_000, 10, 10)
