import * as z from 'zod';
import { type Finding, fault } from '#resources/finding.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import {
  checkTlsSettings,
  RESTRICTING_TLS,
  tlsSettingsShape,
} from '#resources/traffic/tls-settings.ts';
import { domain } from '#resources/words/domain.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { checkedString } from '#resources/words/parsed-string.ts';
import { parseSecretName } from '#resources/words/secret-name.ts';

const schema = z.object({
  hosts: z
    .array(domain)
    .default([])
    .describe('Hosts (by `hostname`) that it is for, besides those that name it in `tlsContext`'),
  secret: checkedString('the name of a Secret', parseSecretName)
    .exactOptional()
    .describe(
      'Secret with certificate and key (`kubernetes.io/tls`) for Hosts without `tlsSecret`, and for services that want one',
    ),
  ...tlsSettingsShape,
  gateway_id: gatewayId,
});

function checkTlsContext(spec: Partial<TlsContextSpec>): readonly Finding[] {
  const { secret, cert_chain_file } = spec;
  const both =
    secret !== undefined && cert_chain_file !== undefined
      ? [fault(['cert_chain_file'], '`secret` and `cert_chain_file` exclude each other')]
      : [];
  return [...both, ...checkTlsSettings(spec)];
}

/** How TLS is used with the clients of several Hosts, or with the services of Mappings. */
export const tlsContext: KindDefinition<typeof schema> = {
  summary:
    'How TLS is spoken: certificate, versions, whose certificates are trusted. Hosts refer to it for clients (`tlsContext`), Mappings for services (`tls`).',
  schema,
  fieldsAt: 'spec',
  unknownField: 'warning',
  restricting: ['hosts', 'secret', ...RESTRICTING_TLS],
  check: checkTlsContext,
};

export type TlsContextSpec = z.output<typeof schema>;
