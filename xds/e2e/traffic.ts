import http from 'node:http';
import type { TestContext } from 'node:test';
import { listenLocally } from '#envoy/e2e/local-server.ts';

/** Starts an HTTP server that answers its own name. Returns its port. */
export async function startUpstream(t: TestContext, name: string): Promise<number> {
  const server = http.createServer((_request, response) => void response.end(name));
  const { close, port } = await listenLocally(server);
  t.after(close);
  return port;
}

/**
 * Starts an HTTP server that answers 200 when it is released. Returns its port and how many wait.
 */
export async function startHolder(t: TestContext) {
  const waiting: http.ServerResponse[] = [];
  const server = http.createServer((_request, response) => void waiting.push(response));
  const { close, port } = await listenLocally(server);
  t.after(close);
  const release = () => {
    for (const response of waiting.splice(0)) response.end();
  };
  return { port, held: () => waiting.length, release };
}

export async function ask(
  url: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(url);
  return { status: response.status, body: await response.text() };
}
