import net from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';

/** One attempt of a client at a port. */
export type Knock = {
  readonly host: string;
  readonly port: number;
  /** Absent: `/user/health`. */
  readonly path?: string;
  /** Absent: plain TCP. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'maxVersion'>;
};

/** For so long an answer may take, in ms. */
const PATIENCE_MS = 30_000;

/**
 * What a client on another test host gets of one attempt: the first words of an answer to a request
 * over HTTP/1.1, or null where not a byte was answered.
 */
function knock({ host, port, path = '/user/health', tls: options }: Knock): Promise<string | null> {
  return new Promise(resolve => {
    const socket =
      options === undefined
        ? net.connect(port, host)
        : tls.connect({ ...options, host, port, checkServerIdentity: () => undefined });
    const heard: Buffer[] = [];
    const over = () => {
      socket.destroy();
      const text = Buffer.concat(heard).toString('latin1');
      resolve(/^HTTP\/1\.\d \d{3}/.exec(text)?.[0] ?? null);
    };
    socket
      .on('data', chunk => heard.push(chunk))
      .once('close', over)
      .once('error', over);
    socket.once(options === undefined ? 'connect' : 'secureConnect', () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`),
    );
    socket.setTimeout(PATIENCE_MS, over);
  });
}

const knocks = JSON.parse(process.argv[2] ?? '[]') as readonly Knock[];
process.stdout.write(JSON.stringify(await Promise.all(knocks.map(knock))));
