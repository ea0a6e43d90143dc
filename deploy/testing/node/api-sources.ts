import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { resourcePath } from '#kubernetes/resource.ts';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { issueToken, mountServiceAccount } from '#kubernetes/testing/service-account.ts';
import type { PodSources } from '../prepare-pod.ts';

const RETRY_MS = 100;

/**
 * Reads what pods of a namespace mount. Like a kubelet it waits for a missing object and for a
 * missing key, until the signal aborts.
 */
export function apiSources(
  api: KubeApiserver,
  namespace: string,
  home: string,
  signal: AbortSignal,
): PodSources {
  const dataOf = async (plural: string, name: string, keys: readonly string[]) => {
    const path = resourcePath({ group: '', version: 'v1', plural, namespace }, name);
    for (;;) {
      const { status, body } = await api.admin.call({ method: 'GET', path });
      const { data = {} } = body as { data?: Readonly<Record<string, string>> };
      if (status === 200 && keys.every(key => data[key] !== undefined)) return data;
      await delay(RETRY_MS, undefined, { signal });
    }
  };
  return {
    async secret(name, keys) {
      const entries = Object.entries(await dataOf('secrets', name, keys));
      return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text, 'base64')]));
    },
    configMap: (name, keys) => dataOf('configmaps', name, keys),
    async tokenFolder(account) {
      const token = await issueToken(api.admin, namespace, account);
      return (await mountServiceAccount(join(home, 'account'), api, namespace, token)).folder;
    },
  };
}
