import * as z from 'zod';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { group, kindName, namespaceName, objectName } from '../gateway-api/names.ts';

const schema = z.object({
  from: z
    .array(
      z.object({
        group: group.describe('Group of those that may'),
        kind: kindName.describe('Their kind'),
        namespace: namespaceName.describe('Their namespace'),
      }),
    )
    .min(1)
    .max(16)
    .meta({ form: 'a list of 1 to 16 items' })
    .describe('Objects of other namespaces that may refer to this one'),
  to: z
    .array(
      z.object({
        group: group.describe('Group of what they may refer to'),
        kind: kindName.describe('Its kind'),
        name: objectName.exactOptional().describe('Its name. Default: all of the kind'),
      }),
    )
    .min(1)
    .max(16)
    .meta({ form: 'a list of 1 to 16 items' })
    .describe('What they may refer to, in the namespace of the grant'),
});

export const referenceGrant = gatewayApiKind(
  'Which objects of other namespaces may refer to Services and Secrets of this one.',
  schema,
);
