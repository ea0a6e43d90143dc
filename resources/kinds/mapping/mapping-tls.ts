import * as z from 'zod';
import { caution, type Finding, fault } from '#resources/finding.ts';
import { secretReference } from '#resources/words/secret-reference.ts';
import type { Service } from '#resources/words/service.ts';

/**
 * Whether requests to the service use TLS, and which TLSContext. See Ambassador's pages "TLS
 * origination" and "Advanced Mapping configuration".
 */
export const mappingTls = z
  .union([z.boolean(), secretReference])
  .meta({ form: '`true`, the name of a TLSContext, or `{ name, namespace }`' });

type Asked = { readonly service: Service; readonly tls: z.output<typeof mappingTls> };

/**
 * Returns the service as it is reached. `tls` means TLS whatever scheme is written. Without a port
 * it is that of https.
 */
export function askedService({ service, tls }: Asked): Service {
  if (tls === false || service.scheme === 'https') return service;
  return { ...service, scheme: 'https', port: service.portGiven ? service.port : 443 };
}

/** Checks the rules between `tls` and other fields. */
export function checkTls({
  hop_tls,
  host_redirect,
  tls = false,
}: Partial<Asked> & {
  readonly hop_tls?: boolean;
  readonly host_redirect?: boolean;
}): readonly Finding[] {
  if (tls === false) return [];
  if (host_redirect === true) return [caution(['tls'], REDIRECTED)];
  return hop_tls === true ? [fault(['hop_tls'], '`hop_tls` and `tls` exclude each other')] : [];
}

const REDIRECTED =
  '`tls` has no effect with `host_redirect`: no service is asked. With `https://` in `service` clients are sent there by https';
