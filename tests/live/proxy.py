"""A wire between browser and server that a test can cut and mend."""

import re
import socket
import threading
from contextlib import suppress

# What a browser's console says of a connection that was cut, in all the moments at which it can be.
CUT = re.compile(r"ERR_CONNECTION|ERR_SOCKET_NOT_CONNECTED|ERR_EMPTY|WebSocket|htmx:ws:error")


class Wire:
    """Forwards TCP from `url` to a port of this machine. While cut, it refuses and drops everything."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        self.is_cut = True
        with self._lock:
            for one in self._pairs:
                _close(one)
            self._pairs.clear()

    def mend(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.cut()
        _close(self._listener)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.is_cut:
                    _close(client)
                    continue
                server = socket.create_connection(("127.0.0.1", self._target))
                with self._lock:
                    self._pairs |= {client, server}
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)
        with self._lock:
            self._pairs -= {source, sink}
        _close(source)
        _close(sink)


def _close(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
