import * as z from 'zod';
import { GATEWAY_API_GROUP } from '../known-kinds.ts';
import { listOf } from './bounded.ts';
import { group, kindName, namespaceName, objectName, portNumber, sectionName } from './names.ts';
import { type Breach, checkRules } from './rules.ts';

/** What a route attaches to. */
export const parentRef = z.object({
  group: group.default(GATEWAY_API_GROUP).describe('Group of the parent'),
  kind: kindName.default('Gateway').describe('Kind of the parent: Gateway or ListenerSet'),
  namespace: namespaceName.exactOptional().describe('Its namespace. Default: that of the route'),
  name: objectName.describe('Its name'),
  sectionName: sectionName.exactOptional().describe('Its listener. Default: all that allow it'),
  port: portNumber.exactOptional().describe('Port of its listeners. Default: any'),
});

/** Fields that every route has. */
export const routeShape = {
  parentRefs: listOf(32, parentRef, 'parents')
    .check(checkRules(parentBreaches))
    .default([])
    .describe('Gateways and ListenerSets that it attaches to'),
  useDefaultGateways: z
    .enum(['All', 'None'])
    .exactOptional()
    .describe('`All`: it attaches to each Gateway with `defaultScope: All` that allows it'),
};

/** Several references to one parent must differ, and must all be told apart in the same way. */
function parentBreaches(parents: readonly ParentRef[]): readonly Breach[] {
  const seen = new Map<string, { readonly form: string; readonly keys: Set<string> }>();
  return parents.flatMap((parent, index) => {
    const { group, kind, namespace = '', name, sectionName, port } = parent;
    const target = [group, kind, namespace, name].join('/');
    const form = `${sectionName !== undefined} ${port !== undefined}`;
    const key = `${sectionName} ${port}`;
    const before = seen.get(target);
    if (before === undefined) seen.set(target, { form, keys: new Set([key]) });
    if (before === undefined) return [];
    const isOther = before.form === form && !before.keys.has(key);
    before.keys.add(key);
    return isOther ? [] : [{ path: [index], message: SAME_PARENT }];
  });
}

const SAME_PARENT =
  'several references to one parent must each have another `sectionName` or `port`';

export type ParentRef = z.output<typeof parentRef>;
