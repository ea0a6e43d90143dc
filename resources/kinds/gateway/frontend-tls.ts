import * as z from 'zod';
import { listOf } from '../gateway-api/bounded.ts';
import { portNumber } from '../gateway-api/names.ts';
import { objectRef } from '../gateway-api/object-ref.ts';
import { checkRules, checkUnique } from '../gateway-api/rules.ts';
import { CERTIFICATES_GROUP } from '../known-kinds.ts';

const validation = z.object({
  caCertificateRefs: z
    .array(objectRef)
    .min(1)
    .max(16)
    .check(
      checkRules(refs =>
        refs.flatMap(({ group, kind, namespace }, index) =>
          group === CERTIFICATES_GROUP && kind === 'ClusterTrustBundle' && namespace !== undefined
            ? [{ path: [index, 'namespace'], message: 'a ClusterTrustBundle has no namespace' }]
            : [],
        ),
      ),
    )
    .meta({ form: 'a list of 1 to 16 references' })
    .describe(
      'ConfigMaps (or Secrets) with trusted certificates in `ca.crt`, or ClusterTrustBundles',
    ),
  mode: z
    .enum(['AllowValidOnly', 'AllowInsecureFallback'])
    .default('AllowValidOnly')
    .describe('Whether a client without a valid certificate may connect'),
});

const clients = z.object({
  validation: validation
    .exactOptional()
    .describe('Whose certificates clients must show. Default: none is asked for'),
});

const perPort = z.object({
  port: portNumber.describe('Port of listeners'),
  tls: clients.describe('What holds there, in place of `default`'),
});

/** Clients' certificates, for all listeners and for those of a port. */
export const frontendTls = z.object({
  default: clients.describe('What holds for ports without their own settings'),
  perPort: listOf(64, perPort, 'ports')
    .check(checkUnique(({ port }) => String(port), 'this port'))
    .default([])
    .describe('What holds for a port'),
});
export type FrontendValidation = z.output<typeof validation>;
