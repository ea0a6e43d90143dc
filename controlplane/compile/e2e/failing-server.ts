import { createServer } from 'node:http';
import { listenLocally } from '#envoy/e2e/local-server.ts';

export type FailingServer = {
  readonly address: string;
  /** Returns the paths of the requests since the last call of this. */
  asked(): readonly string[];
  /** The names of all headers since the last call of `asked`. */
  readonly headers: ReadonlySet<string>;
  close(): Promise<void>;
};

/**
 * Starts an upstream on a free loopback port that answers with the status in the path, such as
 * `/503`. It never answers `/silent`, and ends the connection of `/reset`.
 */
export async function startFailingServer(): Promise<FailingServer> {
  let asked: string[] = [];
  const headers = new Set<string>();
  const server = createServer((request, response) => {
    const { url = '' } = request;
    asked.push(url);
    for (const name of Object.keys(request.headers)) headers.add(name);
    if (url === '/reset') return void request.socket.destroy();
    request.resume().once('end', () => {
      if (url !== '/silent') response.writeHead(Number(url.slice(1))).end();
    });
  });
  const { close, port } = await listenLocally(server);
  return {
    address: `127.0.0.1:${port}`,
    headers,
    asked: () => {
      const all = asked;
      asked = [];
      headers.clear();
      return all;
    },
    close,
  };
}
