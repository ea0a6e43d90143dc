import { headerText } from '#ext-authz/http/header-text.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { parseCheckRequest } from '#ext-authz/wire/check-request.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { EnvoyRequest } from './envoy-request.ts';

/**
 * Converts a request to what the Filter service reads from Envoy's message. The error is the reason
 * for its answer 400.
 */
export function toFilterRequest({ headers, remoteAddress }: EnvoyRequest): Parsed<HttpRequest> {
  const pseudo = (name: string) => headers.get(name)?.[0] ?? '';
  const fields = new Map(
    [...headers]
      .filter(([name]) => !name.startsWith(':'))
      .map(
        ([name, values]) =>
          [name, values.map(value => headerText(name, Buffer.from(value)))] as const,
      ),
  );
  const message = {
    isHttp: true,
    scheme: pseudo(':scheme'),
    host: pseudo(':authority'),
    method: pseudo(':method'),
    path: pseudo(':path'),
    headers: fields,
    ...{ body: new Uint8Array(), address: '', routeRule: '', beforeRoute: false },
  };
  return parseCheckRequest(message, remoteAddress);
}
