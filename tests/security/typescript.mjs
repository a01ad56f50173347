// What the TypeScript SDKs read in a WWW-Authenticate value: a JSON line in, a JSON line out, for as long as there are any.
// In: {header, url}; out: for each SDK {error, scope, description, url}, where `url` says whether what it took for
// resource_metadata is the URL that was meant. The packages are those of tests/clients.

import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { resolve } = createRequire(new URL('../clients/', import.meta.url));
const load = name => import(pathToFileURL(resolve(name)));
const sdks = {
    v1: await load('@modelcontextprotocol/sdk/client/auth.js'),
    v2: await load('@modelcontextprotocol/client')
};

const parsed = url => (URL.canParse(url) ? new URL(url).href : `no URL for JavaScript: ${url}`);

for await (const line of createInterface({ input: process.stdin })) {
    const { header, url } = JSON.parse(line);
    const answer = {};
    for (const [name, sdk] of Object.entries(sdks)) {
        const response = new Response(null, { status: 401, headers: { 'WWW-Authenticate': header } });
        const { error, scope, errorDescription, resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(response);
        const same = resourceMetadataUrl?.href === (url === null ? undefined : parsed(url));
        answer[name] = { error: error ?? null, scope: scope ?? null, description: errorDescription ?? null, url: same };
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
}
