import { findType } from '#protos/root.ts';
import { HOST } from './site.ts';

/** What a browser sends and Envoy adds, besides the cookie. */
const FIELDS: readonly (readonly [name: string, value: string])[] = [
  ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['accept-language', 'en-US,en;q=0.5'],
  ['accept-encoding', 'gzip, deflate'],
  ['sec-fetch-dest', 'document'],
  ['sec-fetch-mode', 'navigate'],
  ['sec-fetch-site', 'same-origin'],
  ['x-forwarded-for', '192.0.2.2'],
  ['x-forwarded-proto', 'http'],
  ['x-envoy-external-address', '192.0.2.2'],
  ['x-request-id', '909acf86-419f-4be6-8c0e-399479103cad'],
];

/**
 * Returns an `envoy.service.auth.v3.CheckRequest` with the fields that Envoy 1.40 sends for a
 * browser's GET, as the edge configures it.
 */
export function checkRequest(path: string, cookie: string): Buffer {
  const fields = [
    [':authority', HOST],
    [':path', path],
    [':method', 'GET'],
    [':scheme', 'http'],
    ['cookie', cookie],
    ...FIELDS,
  ] as const;
  const headers = fields.map(([key, value]) => ({ key, raw_value: Buffer.from(value) }));
  const http = { id: '14666265726106942723', method: 'GET', path, host: HOST, scheme: 'http' };
  const socket = (port: number) => ({
    address: { socket_address: { address: '127.0.0.1', port_value: port } },
  });
  const type = findType('envoy.service.auth.v3.CheckRequest');
  if (type === undefined) throw new Error('no type of checks');
  const message = {
    attributes: {
      source: socket(59_374),
      destination: socket(8_080),
      request: {
        time: { seconds: 1_795_275_579, nanos: 764_923_000 },
        http: { ...http, protocol: 'HTTP/1.1', header_map: { headers } },
      },
      metadata_context: {},
      route_metadata_context: {},
    },
  };
  return Buffer.from(type.encode(type.fromObject(message)).finish());
}
