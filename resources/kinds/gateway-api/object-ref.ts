import * as z from 'zod';
import { group, kindName, namespaceName, objectName } from './names.ts';

const local = {
  group: group.describe('Group of what it names'),
  kind: kindName.describe('Kind of what it names'),
  name: objectName.describe('Its name'),
};

/** An object in the same namespace. */
export const localRef = z.object(local);

/** An object, in the same namespace unless it names another. */
export const objectRef = z.object({
  ...local,
  namespace: namespaceName.exactOptional().describe('Its namespace. Default: the same'),
});

/** A Secret, in the same namespace unless it names another. */
export const secretRef = z.object({
  group: group.default('').describe('Group of what it names'),
  kind: kindName.default('Secret').describe('Kind of what it names'),
  name: objectName.describe('Its name'),
  namespace: namespaceName
    .exactOptional()
    .describe('Its namespace. Default: the same. Another one needs a ReferenceGrant there'),
});

/** Objects with certificates of authorities in `ca.crt`. */
export type LocalRef = z.output<typeof localRef>;
export type ObjectRef = z.output<typeof objectRef>;
export type SecretRef = z.output<typeof secretRef>;
