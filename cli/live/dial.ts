import { lookup } from 'node:dns/promises';
import { connect as connectTcp, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Failure } from '#controlplane/upstreams/failure.ts';
import type { Upstream, UpstreamTls } from '#controlplane/upstreams/upstream.ts';
import { formatHostPort, type HostPort } from '#grpc/host-port.ts';

/** TLS with the content of its secrets. */
export type DialTls = Pick<UpstreamTls, 'subject' | 'sni' | 'alpn'> & {
  /** PEM. Absent: the authorities that Node.js trusts. */
  readonly authorities?: Buffer;
  /** PEM, the gateway's own certificate. */
  readonly pair?: { readonly cert: Buffer; readonly key: Buffer };
};

export type Target = HostPort & {
  readonly family: Upstream['family'];
  /** Absent: a connection is enough. */
  readonly tls?: DialTls;
};

/** Each of the steps has this time, in ms. */
const PATIENCE_MS = 5_000;

/** Of a name with more addresses the first ones are tried. */
const MOST_ADDRESSES = 16;

/** Tries a target as Envoy would: every address of its name, a connection, the handshake. */
export async function dial(target: Target): Promise<readonly Failure[]> {
  const found = await addressesOf(target);
  if ('kind' in found) return [found];
  const tried = await Promise.all(
    found.addresses.map(host => reach({ host, port: target.port }, target.tls)),
  );
  return tried.filter(failure => failure !== undefined);
}

async function addressesOf({
  host,
  family,
}: Target): Promise<{ readonly addresses: readonly string[] } | Failure> {
  const version = family === 'any' ? 0 : family;
  try {
    const found = await within(lookup(host, { all: true, family: version }));
    // For a name with both kinds Envoy uses IPv4.
    const four = found.filter(each => each.family === 4);
    const used = four.length > 0 ? four : found;
    return { addresses: used.slice(0, MOST_ADDRESSES).map(({ address }) => address) };
  } catch (error) {
    return { kind: 'dns', host, reason: reasonOf(error) };
  }
}

async function reach(at: HostPort, tls: DialTls | undefined): Promise<Failure | undefined> {
  const address = formatHostPort(at);
  const socket = connectTcp({ host: at.host, port: at.port });
  try {
    await opened(socket, 'connect');
  } catch (error) {
    socket.destroy();
    return { kind: 'connect', address, reason: reasonOf(error) };
  }
  const failure = tls && (await shake(socket, address, tls));
  socket.destroy();
  return failure;
}

async function shake(socket: Socket, address: string, tls: DialTls): Promise<Failure | undefined> {
  const { alpn, authorities, pair, sni = '', subject } = tls;
  try {
    const secure = connectTls({
      socket,
      servername: sni,
      ALPNProtocols: [...alpn],
      ...(authorities === undefined ? {} : { ca: authorities }),
      ...pair,
      checkServerIdentity: (_host, certificate) => checkServerIdentity(subject, certificate),
    });
    await opened(secure, 'secureConnect');
    secure.destroy();
    return undefined;
  } catch (error) {
    return { kind: 'tls', address, subject, reason: reasonOf(error) };
  }
}

async function opened(
  socket: Socket | TLSSocket,
  event: 'connect' | 'secureConnect',
): Promise<void> {
  const opening = new Promise<void>((resolve, reject) => {
    socket.once(event, resolve);
    // A later error is of no interest, but must have a listener.
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('the service closed the connection')));
  });
  await within(opening);
}

async function within<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The message of a system call repeats the address. That of OpenSSL holds places in its files. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, reason, syscall } = error as { readonly [key: string]: unknown } & Error;
  if (typeof reason === 'string') return reason;
  return typeof syscall === 'string' ? String(code) : error.message;
}
