import * as z from 'zod';
import {
  hostname,
  namespaceName,
  objectName,
  portNumber,
} from '#resources/kinds/gateway-api/names.ts';
import type { Rejected } from '#resources/resource.ts';
import { isFields } from '#resources/words/fields.ts';

/** As many as a right resource has at most. */
const MOST_LISTENERS = 64;

const listener = z.object({ port: portNumber, hostname, protocol: z.string() });
const parent = z.object({ name: objectName, namespace: namespaceName.exactOptional() });

/**
 * Reads the hosts of a rejected Gateway or ListenerSet, as far as they are right, so that no wider
 * listener serves them.
 */
export function salvageListeners(spec: unknown): Pick<Rejected, 'listeners' | 'parent'> {
  if (!isFields(spec) || !Array.isArray(spec.listeners)) return {};
  const listeners = spec.listeners.slice(0, MOST_LISTENERS).flatMap(each => {
    const { data } = listener.safeParse(each);
    return data === undefined || data.protocol === 'UDP'
      ? []
      : [{ port: data.port, hostname: data.hostname }];
  });
  const { data } = parent.safeParse(spec.parentRef);
  return { listeners, ...(data === undefined ? {} : { parent: data }) };
}
