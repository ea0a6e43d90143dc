import { rmSync } from 'node:fs';
import http from 'node:http';
import { isJsonObject } from '#protos/json.ts';
import { parseInstanceCount } from './instance-count.ts';
import type { System } from './system.ts';

/**
 * Serves `gateway scale` and `gateway status` on a unix socket that only its owner may use. Closing
 * it ends all connections.
 *
 * - `PUT /instances` with `{"instances": N}` answers lines of JSON: `{"progress"}` while it goes
 *   on, then `{"instances"}` or `{"error"}`.
 * - `GET /status` answers the processes.
 */
export async function serveControl(socket: string, system: System): Promise<{ close(): void }> {
  let turn = Promise.resolve();
  const server = http.createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/status')
      return answerJson(response, 200, statusOf(system));
    if (request.method === 'PUT' && request.url === '/instances') {
      // A client that is slow to send its request does not hold up the others.
      void countIn(request).then(count => {
        turn = turn.then(() => scale(count, response, system));
      });
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
  // The lock of the state folder guarantees that no other gateway uses it.
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

/** In bytes. */
const MAX_BODY = 1_024;

/** Returns how many instances are asked for, or why the request cannot be read. Never rejects. */
async function countIn(request: http.IncomingMessage): Promise<number | Error> {
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY) throw new Error(`The body must not have more than ${MAX_BODY} bytes`);
      chunks.push(chunk);
    }
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (!isJsonObject(body)) throw new Error('Want a JSON object such as {"instances": 2}');
    return parseInstanceCount(String(body.instances));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function scale(
  count: number | Error,
  response: http.ServerResponse,
  system: System,
): Promise<void> {
  const line = (value: object) => response.write(`${JSON.stringify(value)}\n`);
  try {
    if (count instanceof Error) throw count;
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    await system.fleet.scale(count, progress => line({ progress }));
    line({ instances: count });
  } catch (error) {
    line({ error: error instanceof Error ? error.message : String(error) });
  }
  response.end();
}

function answerJson(response: http.ServerResponse, status: number, value: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(`${JSON.stringify(value)}\n`);
}
