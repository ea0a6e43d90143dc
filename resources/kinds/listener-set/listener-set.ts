import * as z from 'zod';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { listeners } from '../gateway-api/listener.ts';
import { group, kindName, namespaceName, objectName } from '../gateway-api/names.ts';
import { GATEWAY_API_GROUP } from '../known-kinds.ts';

const parentRef = z.object({
  group: group.default(GATEWAY_API_GROUP).describe('Group of the parent'),
  kind: kindName.default('Gateway').describe('Kind of the parent'),
  name: objectName.describe('Its name'),
  namespace: namespaceName.exactOptional().describe('Its namespace. Default: the same'),
});

const schema = z.object({
  parentRef: parentRef.describe('Gateway that it adds listeners to'),
  listeners: listeners
    .meta({ describedElsewhere: true })
    .describe('Its listeners, as in a [Gateway](gateway.md)'),
});

export const listenerSet = gatewayApiKind(
  'More listeners for a Gateway, perhaps of another namespace.',
  schema,
);
