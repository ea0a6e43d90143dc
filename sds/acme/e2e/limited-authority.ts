import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { testAuthority } from '#grpc/testing/test-authority.ts';

/** An authority behind a gate, which limits orders while `retryAfterS` is set. */
export type LimitedAuthority = {
  readonly directory: string;
  /** What its own https is trusted by, PEM. */
  readonly ca: string;
  /** After how many seconds the next order would be taken. */
  retryAfterS: number | undefined;
  /** How many orders were asked for. */
  orders(): number;
};

/** Pebble's `newOrder` (RFC 8555, section 7.1.1). */
const NEW_ORDER = '/order-plz';
export const LIMIT = 'too many certificates already issued for example.com';
/** RFC 8555, section 6.6. */
const PROBLEM = { type: 'urn:ietf:params:acme:error:rateLimited', detail: LIMIT };

/**
 * Starts the gate in front of the authority with this directory. Pebble knows no limits. It writes
 * its addresses by the Host that it is asked as, so that all requests go through here.
 */
export async function limitedAuthority(
  t: TestContext,
  directory: string,
  directoryCa: string,
): Promise<LimitedAuthority> {
  const { ca, certificate: cert, key } = await (await testAuthority()).issue('localhost');
  const { hostname, pathname, port } = new URL(directory);
  let orders = 0;
  const server = createServer({ cert, key }, async (asked, response) => {
    const { headers, method, url: path } = asked;
    const body = await text(asked);
    if (path === NEW_ORDER) {
      orders += 1;
      if (gate.retryAfterS !== undefined) {
        response.writeHead(429, { 'retry-after': String(gate.retryAfterS) });
        return void response.end(JSON.stringify(PROBLEM));
      }
    }
    const to = { hostname, port, path, method, headers, ca: directoryCa };
    request(to, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    })
      .on('error', () => response.destroy())
      .end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close().closeAllConnections());
  const own = (server.address() as AddressInfo).port;
  const gate: LimitedAuthority = {
    directory: `https://localhost:${own}${pathname}`,
    ca,
    retryAfterS: undefined,
    orders: () => orders,
  };
  return gate;
}
