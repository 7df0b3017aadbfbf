"""A tunnel through a proxy: from then on the bytes of a connection go to the endpoint alone."""

from __future__ import annotations

import asyncio

from steelyard.errors import TargetError
from steelyard.model.proxies import Proxy

_END = b"\r\n\r\n"
_MAX_HEAD = 64 * 1024
_CODES = {401: "unauthorized", 403: "forbidden", 407: "unauthorized", 504: "timeout"}


async def open_tunnel(proxy: Proxy, host: str, port: int) -> asyncio.Transport:
    """The connection, once the proxy has connected to the endpoint."""
    loop = asyncio.get_running_loop()
    transport, opening = await loop.create_connection(_Opening, proxy.host, proxy.port)
    try:
        transport.write(_request(proxy, host, port))
        status = await opening.status
    except BaseException:
        transport.abort()
        raise
    if status // 100 != 2:
        transport.abort()
        raise _refusal(proxy, f"{host}:{port}", status)
    return transport


def _request(proxy: Proxy, host: str, port: int) -> bytes:
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {where} HTTP/1.1", f"host: {where}", "user-agent: steelyard"]
    if proxy.authorization:
        lines.append(f"proxy-authorization: {proxy.authorization}")
    return "\r\n".join([*lines, "", ""]).encode()


def _refusal(proxy: Proxy, where: str, status: int) -> TargetError:
    code = _CODES.get(status, "service_unavailable")
    message = f"the proxy {proxy.place} does not connect to {where}: HTTP {status}"
    if status == 407:
        message += "; name its user and password in the address of the proxy"
    away = "unavailable" if code == "service_unavailable" else None
    return TargetError(code, message, http_status=status, away=away)


class _Opening(asyncio.Protocol):
    """Waits for the head of the answer to `CONNECT`."""

    def __init__(self) -> None:
        self.status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._head = b""

    def data_received(self, data: bytes) -> None:
        """Read the head; what comes after it belongs to the endpoint, which speaks second."""
        self._head += data
        if self.status.done() or (_END not in self._head and len(self._head) < _MAX_HEAD):
            return
        words = self._head.split(b"\r\n", 1)[0].split()
        if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit():
            self.status.set_result(int(words[1]))
        else:
            self.status.set_exception(_broken("the proxy does not speak HTTP"))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - of the protocol
        """Fail where nobody knows yet."""
        if not self.status.done():
            self.status.set_exception(_broken("the proxy closed the connection"))


def _broken(why: str) -> TargetError:
    return TargetError("service_unavailable", why, away="unavailable")
