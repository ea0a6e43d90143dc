import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { serveInteraction } from './interaction.ts';
import { PAGE_HEADERS } from './page.ts';
import { errorPage } from './pages.ts';
import { INTERACTION } from './provider.ts';

export type ServerOptions = {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Makes the provider for this port, which the issuer may have to name. */
  provider(port: number): Provider;
  /** Hears of unexpected failures. */
  failed(error: unknown): void;
};

export type Server = {
  readonly port: number;
  /** Stops. Requests in flight may end within `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Serves the provider, its login form and `/healthz`. Rejects with the system's error when it
 * cannot listen.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const server = createServer();
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const handle = handlerOf(options.provider(port), options.failed);
  server.on('request', (request, response) => void handle(request, response));
  const stop = async (graceMs: number) => {
    const closed = once(server, 'close');
    const late = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close();
    server.closeIdleConnections();
    await closed;
    clearTimeout(late);
  };
  return { port, stop };
}

function handlerOf(provider: Provider, failed: ServerOptions['failed']): Handler {
  const answer = provider.callback();
  return async (request, response) => {
    try {
      if (request.url === '/healthz') sendHealth(response);
      else if (request.url?.startsWith(INTERACTION))
        await serveInteraction(provider, request, response);
      else await answer(request, response);
    } catch (error) {
      if (!isSessionLost(error) && !isGone(error)) failed(error);
      sendFailure(response, isSessionLost(error));
    }
  };
}

function sendHealth(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' });
  response.end('ok\n');
}

/**
 * Returns true for an attempt that has ended, that the provider forgot in a restart, or that
 * another browser began.
 */
function isSessionLost(error: unknown): boolean {
  return error instanceof Error && error.name === 'SessionNotFound';
}

/** Returns true for a client that went away in the middle of its request. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}

function sendFailure(response: ServerResponse, isLost: boolean): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(isLost ? 400 : 500, PAGE_HEADERS);
  const text = isLost
    ? 'This attempt to log in has ended. Start again.'
    : 'Something went wrong here.';
  response.end(errorPage(isLost ? 'invalid_request' : 'server_error', text));
}
