"""``python -m mcp_auth_failures`` is the command ``mcp-auth-failures``."""

from mcp_auth_failures.cli import main

raise SystemExit(main())
