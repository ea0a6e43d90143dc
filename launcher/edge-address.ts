import { tryHttpRequest } from './http-request.ts';
import { loopback } from './parts.ts';
import type { Ports } from './ports.ts';
import { sentListeners } from './sent-listeners.ts';

/** Returns where the edge really listens. A ProxyConfig may have moved it off its default port. */
export async function edgeAddress(ports: Ports): Promise<string> {
  const answer = await tryHttpRequest({ address: loopback(ports.edgeAdmin), path: '/listeners' });
  return chooseAddress(answer?.status === 200 ? answer.body : '', ports);
}

/**
 * Chooses from the lines `<name>::<host>:<port>` of Envoy's `/listeners`. Returns the default port,
 * or else the first that is not the one for TLS. Source: Envoy's page "Administration interface".
 */
export function chooseAddress(listeners: string, ports: Pick<Ports, 'edge' | 'edgeTls'>): string {
  const addresses = sentListeners(listeners).flatMap(line => {
    const found = /::(.+):(\d+)$/.exec(line);
    return found === null ? [] : [{ host: found[1] ?? '', port: Number(found[2]) }];
  });
  const plain = addresses.filter(({ port }) => port !== ports.edgeTls);
  const [first] = plain;
  if (first === undefined || plain.some(({ port }) => port === ports.edge))
    return loopback(ports.edge);
  return isAny(first.host) ? loopback(first.port) : `${first.host}:${first.port}`;
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '[::]';
}
