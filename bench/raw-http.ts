import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

const BODY = 'x'.repeat(64);
const ANSWER = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
const END = '\r\n\r\n';

/** Starts a service that answers each request without looking at it. It costs little CPU. */
export async function startRawService(): Promise<{ port: number; stop(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer(socket => {
    sockets.add(socket.setNoDelay());
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', bytes => {
      const requests = bytes.toString('latin1').split(END).length - 1;
      socket.write(ANSWER.repeat(requests));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port, stop };
}

/**
 * Sends so many requests over these connections, each after the answer to the one before. `fields`
 * are lines of headers.
 */
export async function sendRequests(
  port: number,
  path: string,
  count: number,
  connections: number,
  fields: readonly string[] = [`host: 127.0.0.1:${port}`],
): Promise<void> {
  let left = count;
  const request = `GET ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\nuser-agent: bench\r\n\r\n`;
  const run = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1').setNoDelay();
      let seen = '';
      const next = () => {
        if (left <= 0) return void socket.end(() => resolve());
        left -= 1;
        socket.write(request);
      };
      socket.on('connect', next);
      socket.on('error', reject);
      socket.on('data', bytes => {
        seen += bytes.toString('latin1');
        if (!seen.endsWith(BODY)) return;
        if (!seen.startsWith('HTTP/1.1 200')) return reject(new Error(seen.slice(0, 200)));
        seen = '';
        next();
      });
    });
  await Promise.all(Array.from({ length: connections }, run));
}
