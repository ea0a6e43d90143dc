import * as z from 'zod';
import { integer } from '#resources/words/number-types.ts';
import { group, kindName, namespaceName, objectName, portNumber } from './names.ts';
import { checkRules } from './rules.ts';

const shape = {
  group: group.default('').describe('Group of what it names'),
  kind: kindName.default('Service').describe('Kind of what it names'),
  name: objectName.describe('Its name'),
  namespace: namespaceName
    .exactOptional()
    .describe('Its namespace. Default: the same. Another one needs a ReferenceGrant there'),
  port: portNumber.exactOptional().describe('Port of the Service, which it must have'),
};

/** Fields of a backend that gets a share of the requests. */
export const backendShape = {
  ...shape,
  weight: integer(0, 1_000_000)
    .default(1)
    .describe('Its share of the requests, relative to the other weights'),
};

type Backend = { readonly group: string; readonly kind: string; readonly port?: number };

/** Checks that a Service has a port. */
export const checkBackend = checkRules<Backend>(({ group, kind, port }) =>
  group === '' && kind === 'Service' && port === undefined
    ? [{ path: ['port'], message: '`port` is required for a Service' }]
    : [],
);

/** A backend without a share, as of a mirror. */
export const backendObjectRef = z.object(shape).check(checkBackend);

/** A backend of a route for connections. */
export const backendRef = z.object(backendShape).check(checkBackend);

export type BackendObjectRef = z.output<typeof backendObjectRef>;
