"""Where the official SDK's OAuth client, of either generation, keeps what it is given."""

from mcp.shared.auth import OAuthClientInformationFull, OAuthToken


class Storage:
    def __init__(self, stored):
        self.client = OAuthClientInformationFull.model_validate(stored["client"]) if stored else None
        self.tokens = OAuthToken.model_validate(stored["tokens"]) if stored else None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info
