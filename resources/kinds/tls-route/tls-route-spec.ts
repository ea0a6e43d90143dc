import * as z from 'zod';
import { ipVersion } from '#resources/words/ip-address.ts';
import { type ConnectionRule, connectionRules } from '../gateway-api/connection-rule.ts';
import { hostname } from '../gateway-api/names.ts';
import { routeShape } from '../gateway-api/parent-ref.ts';
import { checkRules } from '../gateway-api/rules.ts';

export const tlsRouteSchema = z.object({
  ...routeShape,
  hostnames: z
    .array(hostname)
    .min(1)
    .max(1024)
    .check(
      checkRules(names =>
        names.flatMap((name, index) =>
          ipVersion(name) === 0
            ? []
            : [{ path: [index], message: `"${name}" is an address, and SNI holds names only` }],
        ),
      ),
    )
    .meta({ form: 'a list of 1 to 1024 host names' })
    .describe('Names that clients ask for (SNI)'),
  rules: connectionRules,
});

export type TlsRouteSpec = z.output<typeof tlsRouteSchema>;
export type TlsRouteRule = ConnectionRule;
