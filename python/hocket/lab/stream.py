"""One node's part of background traffic: `stream.py INDEX BYTES PORT ADDRESS...`, a script run on the node.

Every node sends BYTES to each other one and waits for as much from each, again and again, until standard
input ends.
"""

from __future__ import annotations

import os
import selectors
import socket
import sys
import time

_connect_seconds = 20.0
_piece = 1 << 16


def _connected(address: str, port: int) -> socket.socket:
    """Peers start in any order."""
    deadline = time.monotonic() + _connect_seconds
    while True:
        try:
            return socket.create_connection((address, port), timeout=_connect_seconds)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _connections(index: int, port: int, addresses: list[str]) -> list[socket.socket]:
    with socket.create_server((addresses[index], port), backlog=len(addresses)) as server:
        server.settimeout(_connect_seconds)
        earlier = [_connected(address, port) for address in addresses[:index]]
        later = [server.accept()[0] for _ in addresses[index + 1 :]]
    return [*earlier, *later]


class _Peer:
    """How much of a round is still to be sent to, and received from, one other node."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.unsent = self.awaited = 0

    def interest(self) -> int:
        return (selectors.EVENT_WRITE if self.unsent else 0) | (selectors.EVENT_READ if self.awaited else 0)

    def go_on(self, ready: int, piece: memoryview) -> None:
        if ready & selectors.EVENT_WRITE:
            self.unsent -= self.connection.send(piece[: min(self.unsent, len(piece))])
        if ready & selectors.EVENT_READ:
            received = len(self.connection.recv(min(self.awaited, len(piece))))
            if not received:
                sys.exit(0)  # the other end was told to end first
            self.awaited -= received


def _round(chooser: selectors.BaseSelector, peers: list[_Peer], count: int, piece: memoryview) -> None:
    for peer in peers:
        peer.unsent = peer.awaited = count
        chooser.register(peer.connection, peer.interest(), peer)
    left = len(peers)
    while left:
        for key, ready in chooser.select():
            if key.data is None:
                sys.exit(0)  # standard input: who started the traffic has ended it, or is gone
            key.data.go_on(ready, piece)
            if interest := key.data.interest():
                chooser.modify(key.fileobj, interest, key.data)
            else:
                chooser.unregister(key.fileobj)
                left -= 1


def main() -> None:
    index, count, port = (int(word) for word in sys.argv[1:4])
    peers = [_Peer(connection) for connection in _connections(index, port, sys.argv[4:])]
    piece = memoryview(os.urandom(_piece))
    with selectors.DefaultSelector() as chooser:
        chooser.register(0, selectors.EVENT_READ, None)
        while True:
            _round(chooser, peers, count, piece)


if __name__ == "__main__":
    try:
        main()
    except (ConnectionError, KeyboardInterrupt):
        sys.exit(0)
