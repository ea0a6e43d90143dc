import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { listenLocally } from '#envoy/e2e/local-server.ts';

export type HostileEndpoint = 'discovery' | 'jwks' | 'token' | 'userinfo';

export type AskedRequest = {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  /** The fields of a form, else empty. */
  readonly form: URLSearchParams;
};

/**
 * An answer, or none. Without one the connection stays open, or closes before or in the middle of
 * the body.
 */
export type HostileAnswer =
  | {
      readonly status?: number;
      readonly headers?: { readonly [name: string]: string };
      /** Text and bytes are sent as they are, anything else as JSON. */
      readonly body?: unknown;
    }
  | 'hang'
  | 'hang up'
  | 'break off';

export type Behaviour = (request: AskedRequest) => HostileAnswer | Promise<HostileAnswer>;

export type SigningKey = {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
};

/** A provider that is honest until it is told to misbehave, one endpoint at a time. */
export type HostileProvider = {
  readonly issuer: string;
  readonly key: SigningKey;
  readonly behave: (endpoint: HostileEndpoint, behaviour: Behaviour) => void;
  /** Honest again, and nothing asked yet. */
  readonly reset: () => void;
  /** What an endpoint was asked since the last `reset`. */
  readonly asked: (endpoint: HostileEndpoint) => readonly AskedRequest[];
  /** Connections made since the last `reset`. */
  readonly connections: () => number;
  /** The honest documents and answers, to be changed. */
  readonly discovery: () => Record<string, unknown>;
  readonly tokens: (changes?: {
    readonly [name: string]: unknown;
  }) => Promise<Record<string, unknown>>;
  /**
   * Returns an ID token for `client`, of `alice`, with the nonce `nonce`. It may be changed, or
   * signed by another key.
   */
  readonly idToken: (changes?: IdTokenChanges) => Promise<string>;
  readonly close: () => Promise<void>;
};

export type IdTokenChanges = {
  readonly claims?: { readonly [name: string]: unknown };
  readonly header?: { readonly [name: string]: unknown };
  readonly key?: CryptoKey | Uint8Array;
};

const PATHS: ReadonlyMap<string, HostileEndpoint> = new Map([
  ['/.well-known/openid-configuration', 'discovery'],
  ['/jwks', 'jwks'],
  ['/token', 'token'],
  ['/userinfo', 'userinfo'],
]);

/** RS256, in the form of a key set's. */
export async function makeSigningKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, use: 'sig', alg } };
}

/** Starts one on a free loopback port, over https with `tls`. */
export async function startHostileProvider(tls?: ServerOptions): Promise<HostileProvider> {
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  const { close, port } = await listenLocally(server);
  const issuer = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  const key = await makeSigningKey('first');
  const honest = honestBehaviour(issuer, key);
  const behaviours = new Map<HostileEndpoint, Behaviour>();
  const asked: { readonly endpoint: HostileEndpoint; readonly request: AskedRequest }[] = [];
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.on('request', async (request, response) => {
    const endpoint = PATHS.get(request.url ?? '');
    if (endpoint === undefined) return send(response, { status: 404 });
    const seen = await readRequest(request);
    asked.push({ endpoint, request: seen });
    send(response, await (behaviours.get(endpoint) ?? honest[endpoint])(seen));
  });
  return {
    ...{ issuer, key },
    behave: (endpoint, behaviour) => behaviours.set(endpoint, behaviour),
    reset: () => {
      behaviours.clear();
      asked.length = 0;
      connections = 0;
    },
    asked: endpoint =>
      asked.filter(item => item.endpoint === endpoint).map(({ request }) => request),
    connections: () => connections,
    discovery: () => discoveryOf(issuer),
    tokens: changes => tokensOf(issuer, key, changes),
    idToken: changes => idTokenOf(issuer, key, changes),
    close,
  };
}

function honestBehaviour(issuer: string, key: SigningKey): Record<HostileEndpoint, Behaviour> {
  return {
    discovery: () => ({ body: discoveryOf(issuer) }),
    jwks: () => ({ body: { keys: [key.publicJwk] } }),
    token: async () => ({ body: await tokensOf(issuer, key) }),
    userinfo: () => ({ body: { sub: 'alice' } }),
  };
}

function discoveryOf(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/logout`,
  };
}

async function tokensOf(
  issuer: string,
  key: SigningKey,
  changes: { readonly [name: string]: unknown } = {},
): Promise<Record<string, unknown>> {
  const idToken = await idTokenOf(issuer, key);
  return {
    access_token: 'access',
    token_type: 'Bearer',
    expires_in: 3_600,
    id_token: idToken,
    ...changes,
  };
}

function idTokenOf(
  issuer: string,
  own: SigningKey,
  { claims, header, key }: IdTokenChanges = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const payload = {
    iss: issuer,
    sub: 'alice',
    aud: 'client',
    exp: now + 3_600,
    iat: now,
    nonce: 'nonce',
    ...claims,
  };
  const protectedHeader = { alg: 'RS256', kid: own.kid, ...header };
  return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(key ?? own.privateKey);
}

async function readRequest(request: IncomingMessage): Promise<AskedRequest> {
  const form = new URLSearchParams(await text(request));
  return { method: request.method ?? '', headers: request.headers, form };
}

function send(response: ServerResponse, answer: HostileAnswer): void {
  if (answer === 'hang') return;
  if (answer === 'hang up') return void response.destroy();
  if (answer === 'break off') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"access_', () => response.destroy());
    return;
  }
  const { body = '', headers, status = 200 } = answer;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(
    typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  );
}
