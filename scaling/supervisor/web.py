"""The web process of `up`: uvicorn on a socket that the supervisor opened and keeps while this process is replaced."""

import os
import socket
import sys

import uvicorn


def serve(descriptor: int) -> None:
    """Serve pages, API and websockets on the listening socket with this descriptor until told to stop."""
    config = uvicorn.Config(
        "iris_web.asgi:application",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        ws_max_size=256 * 1024,
        # A proxy is believed by settings alone (IRIS_TRUSTED_PROXIES, IRIS_BEHIND_PROXY): the peer stays the peer here.
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
    # Sets Django up, whose models the watch reads.
    config.load()
    from scaling.notices.watchman import watching

    with watching():
        uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iris_web.settings")
    serve(int(sys.argv[1]))
