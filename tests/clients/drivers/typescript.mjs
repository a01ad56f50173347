// The TypeScript SDK's clients, v1 and v2: a task a line in, what the host of the client got to see a line out.
// The host is the one of the SDK's own examples: told that a sign-in is needed, it opens the browser, hands the code to
// finishAuth(), and tries once more.

import { createInterface } from 'node:readline';
import { readFile } from 'node:fs/promises';
import { inspect } from 'node:util';

const REDIRECT_URI = 'http://127.0.0.1:1/callback';
const version = process.argv[2];

const sdk =
    version === 'v1'
        ? {
              ...(await import('@modelcontextprotocol/sdk/client/index.js')),
              ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
              ...(await import('@modelcontextprotocol/sdk/client/auth.js'))
          }
        : await import('@modelcontextprotocol/client');

console.log = console.warn = console.error;
const say = answer => process.stdout.write(JSON.stringify(answer) + '\n');

class Provider {
    redirectUrl = REDIRECT_URI;
    clientMetadata = {
        client_name: 'test',
        redirect_uris: [REDIRECT_URI],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none'
    };

    constructor({ client, tokens }) {
        this.client = client;
        this.stored = tokens && { ...tokens, issuer: client.issuer };
    }

    clientInformation = () => this.client;
    saveClientInformation = client => void (this.client = client);
    tokens = () => this.stored;
    saveTokens = tokens => void (this.stored = tokens);
    codeVerifier = () => this.verifier;
    saveCodeVerifier = verifier => void (this.verifier = verifier);
    discoveryState = () => this.discovered;
    saveDiscoveryState = state => void (this.discovered = state);

    invalidateCredentials(scope) {
        if (scope === 'all' || scope === 'client') this.client = undefined;
        if (scope === 'all' || scope === 'tokens') this.stored = undefined;
    }

    async redirectToAuthorization(url) {
        const response = await fetch(url, { redirect: 'manual' });
        this.code = new URL(response.headers.get('location')).searchParams.get('code');
    }
}

function transportOptions(task, provider) {
    if (task.auth === 'oauth') return { authProvider: provider };
    if (task.auth === 'token') return { authProvider: { token: async () => task.token } };
    if (task.auth === 'static') return { requestInit: { headers: { Authorization: `Bearer ${task.token}` } } };
    return {};
}

async function run(task, nextLine) {
    const provider = new Provider(task.stored);
    const onerror = [];
    let transport, client;

    const connect = async () => {
        transport = new sdk.StreamableHTTPClientTransport(new URL(task.url), transportOptions(task, provider));
        client = new sdk.Client(
            { name: 'test', version: '1' },
            task.mode ? { versionNegotiation: { mode: task.mode } } : {}
        );
        client.onerror = error => onerror.push(String(error));
        await client.connect(transport);
    };
    const signedIn = async step => {
        try {
            return await step();
        } catch (error) {
            if (!provider.code) throw error;
            await transport.finishAuth(provider.code);
            provider.code = undefined;
            return step();
        }
    };

    try {
        await signedIn(connect);
        const result = await signedIn(() => client.callTool({ name: task.tool, arguments: { x: 'hi' } }));
        if (task.hold) {
            say({ held: true });
            await nextLine();
        }
        const text = result.content[0].text;
        return { called: text === 'hi', message: text, error: 'result', more: JSON.stringify(result), onerror };
    } catch (error) {
        const more = inspect({ ...error }, { depth: 6, breakLength: Infinity, maxStringLength: null });
        return { called: false, message: error.message, error: error.constructor.name, more, onerror };
    } finally {
        await client?.close().catch(() => {});
    }
}

const manifest = `../node_modules/@modelcontextprotocol/${version === 'v1' ? 'sdk' : 'client'}/package.json`;
say({ version: JSON.parse(await readFile(new URL(manifest, import.meta.url), 'utf8')).version });

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const nextLine = () => lines.next();
for (let line = await nextLine(); !line.done; line = await nextLine()) {
    say(await run(JSON.parse(line.value), nextLine));
}
