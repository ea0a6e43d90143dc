import { rmSync } from 'node:fs';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { parseInstanceCount } from './instance-count.ts';
import type { System } from './system.ts';

/**
 * Serves `gateway scale` on a unix socket that only its owner may use: `PUT /instances` with `{"instances": N}` answers lines of JSON,
 * `{"progress"}` while it goes on and `{"instances"}` or `{"error"}` at the end; `GET /status` answers the processes.
 * Closing it ends all connections.
 */
export async function serveControl(socket: string, system: System): Promise<{ close(): void }> {
  let turn = Promise.resolve();
  const server = http.createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/status')
      return answerJson(response, 200, statusOf(system));
    if (request.method === 'PUT' && request.url === '/instances') {
      turn = turn.then(() => scale(request, response, system));
      return;
    }
    answerJson(response, 404, { error: 'want GET /status or PUT /instances' });
  });
  await listen(server, socket);
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { close };
}

function listen(server: http.Server, socket: string): Promise<void> {
  // The lock of the state folder says that nobody uses it any more.
  rmSync(socket, { force: true });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const mask = process.umask(0o177);
    server.listen(socket, resolve);
    process.umask(mask);
  });
}

function statusOf(system: System): object {
  const processes = system.children.map(({ part, phase, pid, restarts }) => ({
    name: part.name,
    phase,
    pid,
    restarts,
  }));
  return { pid: process.pid, instances: system.fleet.instances.length, processes };
}

async function scale(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  system: System,
): Promise<void> {
  const line = (value: object) => response.write(`${JSON.stringify(value)}\n`);
  try {
    const count = parseInstanceCount(String(JSON.parse(await text(request)).instances));
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    await system.fleet.scale(count, progress => line({ progress }));
    line({ instances: count });
  } catch (error) {
    line({ error: error instanceof Error ? error.message : String(error) });
  }
  response.end();
}

function answerJson(response: http.ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(value)}\n`);
}
