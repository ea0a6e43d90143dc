import net from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';

/** One attempt of a client at a port. */
export type Knock = {
  readonly host: string;
  readonly port: number;
  /** Default: `/user/health`. */
  readonly path?: string;
  /** Default: plain TCP. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'maxVersion'>;
};

/** How long an answer may take, in ms. */
const PATIENCE_MS = 30_000;

/**
 * Makes one attempt as a client on another test host. Returns the first words of an HTTP/1.1
 * answer, or null when not a byte was answered.
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
