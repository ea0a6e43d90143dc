import { parseAddress } from '#process/environment.ts';
import { tryHttpRequest } from './http-request.ts';
import { edgeAddresses, type Layout, loopback } from './parts.ts';
import type { Ports } from './ports.ts';
import { sentListeners } from './sent-listeners.ts';

/** Returns where the edge really listens. A ProxyConfig may have moved it off its default port. */
export async function edgeAddress(layout: Layout): Promise<string> {
  const address = loopback(layout.ports.edgeAdmin);
  const answer = await tryHttpRequest({ address, path: '/listeners' });
  const { EDGE_ADDRESS, EDGE_TLS_ADDRESS } = edgeAddresses(layout);
  return chooseAddress(answer?.status === 200 ? answer.body : '', {
    edge: parseAddress('EDGE_ADDRESS', EDGE_ADDRESS).port,
    edgeTls: parseAddress('EDGE_TLS_ADDRESS', EDGE_TLS_ADDRESS).port,
  });
}

/**
 * Chooses from the lines `<name>::<host>:<port>` of Envoy's `/listeners`. Returns the one with the
 * default port, or else the first that is not the one for TLS. Source: Envoy's page "Administration
 * interface".
 */
export function chooseAddress(listeners: string, ports: Pick<Ports, 'edge' | 'edgeTls'>): string {
  const addresses = sentListeners(listeners).flatMap(line => {
    const found = /::(.+):(\d+)$/.exec(line);
    return found === null ? [] : [{ host: found[1] ?? '', port: Number(found[2]) }];
  });
  const plain = addresses.filter(({ port }) => port !== ports.edgeTls);
  const chosen = plain.find(({ port }) => port === ports.edge) ?? plain[0];
  if (chosen === undefined || isAny(chosen.host)) return loopback(chosen?.port ?? ports.edge);
  return `${chosen.host}:${chosen.port}`;
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '[::]';
}
