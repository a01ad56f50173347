"""``python served.py MODULE:FACTORY DESCRIPTOR QUIET``: uvicorn on a socket that is there already."""

import socket
import sys
from typing import Any

import uvicorn

if __name__ == "__main__":
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False} if sys.argv[3] == "1" else {}
    listener = socket.socket(fileno=int(sys.argv[2]))
    uvicorn.Server(uvicorn.Config(sys.argv[1], factory=True, ws="none", **quiet)).run(sockets=[listener])
