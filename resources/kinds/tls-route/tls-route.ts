import * as z from 'zod';
import { ipVersion } from '#resources/words/ip-address.ts';
import { connectionRules } from '../gateway-api/connection-rule.ts';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { hostname } from '../gateway-api/names.ts';
import { routeShape } from '../gateway-api/parent-ref.ts';
import { checkRules } from '../gateway-api/rules.ts';

const schema = z.object({
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

export const tlsRoute = gatewayApiKind(
  'Where the TLS connections of a listener go, by the name that the client asks for.',
  schema,
);
