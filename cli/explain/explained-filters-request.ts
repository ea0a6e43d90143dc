import { parseCheckRequest } from '#ext-authz/check-request.ts';
import type { HttpRequest } from '#ext-authz/http-request.ts';
import type { Parsed } from '#resources/parsed-string.ts';
import type { EnvoyRequest } from './envoy-request.ts';

/** A request as the service that runs filters reads it of Envoy's message; the error says what it answers 400 for. */
export function toFilterRequest({ headers, remoteAddress }: EnvoyRequest): Parsed<HttpRequest> {
  const pseudo = (name: string) => headers.get(name)?.[0] ?? '';
  const fields = [...headers].flatMap(([key, values]) =>
    values.map(value => ({ key, raw_value: Buffer.from(value) })),
  );
  const http = {
    scheme: pseudo(':scheme'),
    host: pseudo(':authority'),
    method: pseudo(':method'),
    path: pseudo(':path'),
    header_map: { headers: fields },
  };
  return parseCheckRequest({ attributes: { request: { http } } }, remoteAddress);
}
