import { lookup } from 'node:dns/promises';
import { connect as connectTcp, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Failure } from '#controlplane/upstreams/failure.ts';
import type { Upstream, UpstreamTls } from '#controlplane/upstreams/upstream.ts';
import { formatHostPort, type HostPort } from '#grpc/host-port.ts';

/** TLS with the content of its secrets. */
export type DialTls = Pick<UpstreamTls, 'subjects' | 'sni' | 'alpn'> & {
  /** PEM. Absent: the authorities that Node.js trusts. */
  readonly authorities?: Buffer;
  /** PEM, the gateway's own certificate. */
  readonly pair?: { readonly cert: Buffer; readonly key: Buffer };
};

export type Target = HostPort & {
  readonly family: Upstream['family'];
  /** `hop` is TLS for which a connection is enough. Absent: plain text. */
  readonly tls?: DialTls | 'hop';
};

/** Each of the steps has this time, in ms. */
const PATIENCE_MS = 5_000;

/** A service that speaks plain text may wait for more of what it takes for a request. */
const PLAIN_PATIENCE_MS = 1_000;

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

async function reach(at: HostPort, tls: Target['tls']): Promise<Failure | undefined> {
  const address = formatHostPort(at);
  const socket = connectTcp({ host: at.host, port: at.port });
  try {
    await opened(socket, 'connect');
  } catch (error) {
    socket.destroy();
    return { kind: 'connect', address, reason: reasonOf(error) };
  }
  const failure =
    tls === undefined
      ? await expectPlain(socket, address)
      : tls !== 'hop' && (await shake(socket, address, tls));
  socket.destroy();
  return failure || undefined;
}

/**
 * A port that answers a handshake speaks TLS. A request would tell more, but a service may act on
 * it, and a handshake is one to none.
 */
async function expectPlain(socket: Socket, address: string): Promise<Failure | undefined> {
  try {
    const secure = connectTls({ socket, rejectUnauthorized: false });
    await opened(secure, 'secureConnect', PLAIN_PATIENCE_MS);
    secure.destroy();
  } catch (error) {
    // An alert is TLS too: the service may want a certificate, or another name.
    if (!/alert/i.test(reasonOf(error))) return undefined;
  }
  return { kind: 'broken', address, reason: 'it speaks TLS', isTls: false };
}

async function shake(socket: Socket, address: string, tls: DialTls): Promise<Failure | undefined> {
  const { alpn, authorities, pair, sni = '', subjects } = tls;
  try {
    const secure = connectTls({
      socket,
      servername: sni,
      ALPNProtocols: [...alpn],
      ...(authorities === undefined ? {} : { ca: authorities }),
      ...pair,
      checkServerIdentity: (_host, certificate) => {
        const [wrong, ...others] = subjects.map(name => checkServerIdentity(name, certificate));
        return others.includes(undefined) ? undefined : wrong;
      },
    });
    await opened(secure, 'secureConnect');
    secure.destroy();
    return undefined;
  } catch (error) {
    const [subject] = subjects;
    return {
      ...{ kind: 'tls', address, reason: reasonOf(error) },
      ...(subject === undefined ? {} : { subject }),
    };
  }
}

async function opened(
  socket: Socket | TLSSocket,
  event: 'connect' | 'secureConnect',
  patience = PATIENCE_MS,
): Promise<void> {
  const opening = new Promise<void>((resolve, reject) => {
    socket.once(event, resolve);
    // A later error is of no interest, but must have a listener.
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('the service closed the connection')));
  });
  await within(opening, patience);
}

async function within<T>(promise: Promise<T>, patience = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patience} ms`)), patience);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Node adds how to start Node, which is no remedy here. */
const NODE_ADVICE = /[;,.]? (?:if the root CA|try running).*$/s;

/** The message of a system call repeats the address. That of OpenSSL holds places in its files. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, reason, syscall } = error as { readonly [key: string]: unknown } & Error;
  if (typeof reason === 'string') return reason;
  return typeof syscall === 'string' ? String(code) : error.message.replace(NODE_ADVICE, '');
}
