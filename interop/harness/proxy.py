"""A listener between a client and the server that keeps what the client sent."""

import socket
import threading

CHUNK_BYTES = 1 << 16


class Proxy:
    """Forwards connections to `target()` and records the bytes from the clients."""

    def __init__(self, target):
        self.target = target
        self.sent = bytearray()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.target())
            threading.Thread(target=self._forward, args=(client, server, self.sent), daemon=True).start()
            threading.Thread(target=self._forward, args=(server, client, None), daemon=True).start()

    @staticmethod
    def _forward(source, sink, record):
        try:
            while data := source.recv(CHUNK_BYTES):
                if record is not None:
                    record.extend(data)
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        self.listener.close()
