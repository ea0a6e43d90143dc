import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type LocalServer, listenLocally } from './local-server.ts';

/** What an upstream got, and its name. */
export type Echo = {
  readonly hostname: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A real HTTP server on the loopback interface that answers with the request that it got. */
export type Upstream = LocalServer & {
  /** How many requests it got. */
  requests(): number;
};

/** A path that is never answered. */
export const SILENT = '/silent';

const TESTDATA = join(import.meta.dirname, 'testdata');

/** Starts an upstream that calls itself `hostname`. Default port: any free one. */
export function startUpstream(hostname: string, port = 0): Promise<Upstream> {
  return serve(hostname, answer => http.createServer(answer), port);
}

/** Starts one with TLS, under a certificate that nobody trusts. */
export function startUntrustedUpstream(hostname: string): Promise<Upstream> {
  const key = readFileSync(join(TESTDATA, 'self-signed.key'));
  const cert = readFileSync(join(TESTDATA, 'self-signed.pem'));
  return serve(hostname, answer => https.createServer({ key, cert }, answer), 0);
}

/** Starts one that speaks HTTP/2 only, without TLS. */
export async function startHttp2Upstream(hostname: string): Promise<Upstream> {
  let requests = 0;
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = http2.createServer((_incoming, outgoing) => {
    requests += 1;
    outgoing.end(JSON.stringify({ hostname }));
  });
  server.on('session', session => sessions.add(session));
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = async () => {
    server.close();
    for (const session of sessions) session.destroy();
  };
  return { port: (server.address() as AddressInfo).port, requests: () => requests, close };
}

async function serve(
  hostname: string,
  createServer: (answer: http.RequestListener) => http.Server | https.Server,
  port: number,
): Promise<Upstream> {
  let requests = 0;
  const server = createServer((incoming, outgoing) => {
    requests += 1;
    const { headers, method = '', url = '' } = incoming;
    if (url.startsWith(SILENT)) return;
    outgoing.setHeader('Content-Type', 'application/json');
    outgoing.end(JSON.stringify({ hostname, method, url, headers }));
  });
  server.keepAliveTimeout = 60_000;
  return { ...(await listenLocally(server, port)), requests: () => requests };
}
