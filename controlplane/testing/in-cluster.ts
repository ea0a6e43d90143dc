import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlaneProcess, startControlPlane } from '#envoy/e2e/control-plane-process.ts';
import { until } from '#envoy/e2e/until.ts';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import {
  issueToken,
  makeNamespace,
  makeServiceAccount,
  type Rule,
} from '#kubernetes/testing/service-account.ts';
import { type Document, read } from '#resources/kubernetes/testing/objects.ts';

/** The rights of a control plane in the namespace whose resources it reads, here its own. */
const RIGHTS: readonly Rule[] = [
  { apiGroups: ['gateway.internal'], resources: ['*'], verbs: ['list', 'watch'] },
  { apiGroups: ['gateway.internal'], resources: ['*/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

/** Starts control planes with RIGHTS, each with a state folder of its own. */
export async function inCluster(api: KubeApiserver, namespace: string) {
  await makeNamespace(api.admin, namespace);
  const folder = mkdtempSync(join(tmpdir(), 'in-cluster-'));
  const account = { namespace, name: `controlplane-${namespace}` };
  await makeServiceAccount(api.admin, account, RIGHTS);
  const token = await issueToken(api.admin, account.namespace, account.name);
  const KUBECONFIG = await api.writeKubeconfig(account.name, token);
  const text = readFileSync(KUBECONFIG, 'utf8').replace(
    '"namespace":"default"',
    `"namespace":"${namespace}"`,
  );
  writeFileSync(KUBECONFIG, text);
  let count = 0;
  return {
    start: (more: Readonly<Record<string, string>> = {}): Promise<ControlPlaneProcess> => {
      count += 1;
      const env = { KUBECONFIG, RESOURCES_KUBERNETES: namespace, ...more };
      return startControlPlane({
        resources: '',
        state: join(folder, String(count)),
        edge: '127.0.0.1:0',
        env,
      });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Returns the number in a line of its metrics, or 0 when there is no such line. */
export async function metric({ http }: ControlPlaneProcess, line: RegExp): Promise<number> {
  const text = await (await fetch(`${http}/metrics`)).text();
  return Number(line.exec(text)?.[1] ?? 0);
}

/** Returns 1 when it is the one that writes statuses. */
export function leads(plane: ControlPlaneProcess): Promise<number> {
  return metric(plane, /^gateway_status_leader (\d)$/m);
}

export type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly observedGeneration: number;
  readonly message: string;
};
export type Status = {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly problems?: readonly {
    readonly severity: string;
    readonly field?: string;
    readonly message: string;
  }[];
};

/** Returns an object's conditions as `Accepted Programmed`, in reasons. The others are left out. */
export function reasons({ conditions = [] }: Status): string {
  return conditions
    .filter(({ type }) => type === 'Accepted' || type === 'Programmed')
    .map(({ type, status, reason }) => `${type}=${status}:${reason}`)
    .join(' ');
}

/** Waits until the status of an object is of its newest generation and as wanted. */
export async function statusWhen(
  { admin }: KubeApiserver,
  document: Document,
  wanted: (status: Status) => boolean,
  withinMs = 30_000,
): Promise<Status> {
  let status: Status = {};
  const look = async () => {
    const object = await read(admin, document);
    status = (object?.status ?? {}) as Status;
    const newest = status.conditions?.every(
      ({ observedGeneration }) => observedGeneration === object?.metadata.generation,
    );
    return newest === true && wanted(status) ? status : undefined;
  };
  const what = `${document.kind} ${document.metadata.name} ${wanted}`;
  return until(look, withinMs, what).catch((error: unknown) => {
    throw new Error(`${error}. It is ${JSON.stringify(status)}`);
  });
}
