import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { resourcePath } from '#kubernetes/resource.ts';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { issueToken, mountServiceAccount } from '#kubernetes/testing/service-account.ts';
import type { PodSources } from '../prepare-pod.ts';

const RETRY_MS = 100;

/** Reads what pods of a namespace mount. It waits for what is missing, until the signal aborts. */
export function apiSources(
  api: KubeApiserver,
  namespace: string,
  home: string,
  signal: AbortSignal,
): PodSources {
  const dataOf = async (plural: string, name: string) => {
    const path = resourcePath({ group: '', version: 'v1', plural, namespace }, name);
    for (;;) {
      const { status, body } = await api.admin.call({ method: 'GET', path });
      if (status === 200) return (body as { data?: Readonly<Record<string, string>> }).data ?? {};
      await delay(RETRY_MS, undefined, { signal });
    }
  };
  return {
    async secret(name) {
      const entries = Object.entries(await dataOf('secrets', name));
      return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text, 'base64')]));
    },
    configMap: name => dataOf('configmaps', name),
    async tokenFolder(account) {
      const token = await issueToken(api.admin, namespace, account);
      return (await mountServiceAccount(join(home, 'account'), api, namespace, token)).folder;
    },
  };
}
