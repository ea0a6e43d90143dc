import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenLocally } from '#envoy/e2e/local-server.ts';
import { serve } from '#grpc/serve.ts';

/** What a service of ExternalAuth was asked last. */
export type LastAsked = {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
};

type AuthServer = {
  readonly address: string;
  last(): LastAsked;
  close(): Promise<void>;
};

type Call = {
  readonly request: {
    readonly attributes: {
      readonly request: {
        readonly http: {
          readonly path: string;
          readonly headers: Readonly<Record<string, string>>;
          readonly body?: string;
        };
      };
    };
  };
};

const NOT_ASKED: LastAsked = { path: '', headers: {}, body: '' };

/**
 * Starts a real service of Envoy's protocol. The header `x-answer` says what it answers: `deny`,
 * `plain` without any header, or else the value of the tenant that it sets.
 */
export async function startGrpcAuth(): Promise<AuthServer> {
  let last = NOT_ASKED;
  const Check = ({ request }: Call, callback: (error: null, value: object) => void) => {
    const { body = '', headers, path } = request.attributes.request.http;
    last = { path, headers, body };
    callback(null, grpcAnswer(headers['x-answer'] ?? ''));
  };
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: { 'envoy.service.auth.v3.Authorization': { Check } },
  });
  return {
    address: `127.0.0.1:${served.port}`,
    last: () => last,
    close: () => served.stop(100),
  };
}

function grpcAnswer(answer: string): object {
  if (answer === 'deny')
    return {
      status: { code: 7 },
      denied_response: { status: { code: 403 }, headers: [], body: 'denied' },
    };
  const set = answer === 'plain' ? [] : [...ROUTING, ['x-tenant', answer]];
  const headers = set.map(([key, value]) => ({
    header: { key, value },
    append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
  }));
  return { status: { code: 0 }, ok_response: { headers } };
}

/** What no service may change. */
const ROUTING = [
  [':path', '/stolen'],
  ['host', 'open.test'],
  ['x-gateway-tls-host', 'open.test'],
  ['content-length', '5'],
] as const;

/** Starts a real service that is asked over HTTP. It answers as that of Envoy's protocol does. */
export async function startHttpAuth(): Promise<AuthServer> {
  let last = NOT_ASKED;
  const server = createServer(async (request, response) => {
    const { headers, url: path = '' } = request;
    last = { path, headers, body: await text(request) };
    const answer = answerIn(headers, path);
    if (answer === 'deny') return void response.writeHead(403, { 'x-why': 'no' }).end('denied');
    if (answer === 'fail') return void response.writeHead(500).end('failed');
    if (answer === 'created') return void response.writeHead(201).end();
    if (answer !== 'plain') response.setHeader('x-tenant', answer);
    response.writeHead(200, { 'x-more': 'more', 'content-type': 'text/auth' }).end('allowed');
  });
  const { close, port } = await listenLocally(server);
  return { address: `127.0.0.1:${port}`, last: () => last, close };
}

/** The query tells it where no header does. */
function answerIn({ 'x-answer': header }: IncomingHttpHeaders, path: string): string {
  return typeof header === 'string' ? header : (path.split('answer=')[1] ?? '');
}
