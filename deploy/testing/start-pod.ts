import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EnvironmentVariable, PodSpec, Volume } from './manifests.ts';
import { environmentOf, expand } from './manifests.ts';
import { type RunningContainer, startContainer } from './start-container.ts';

/** What a kubelet reads from the API. */
export type PodSources = {
  /** Resolves with the files of a Secret when there is one. */
  secret(name: string): Promise<Readonly<Record<string, Buffer>>>;
  configMap(name: string): Promise<Readonly<Record<string, string>>>;
  /** Resolves with the folder of the account's token. */
  tokenFolder(account: string): Promise<string>;
};

export type PodOptions = {
  readonly name: string;
  readonly namespace: string;
  readonly spec: PodSpec;
  readonly programs: ReadonlyMap<string, string>;
  readonly hostsFile: string;
  /** Folder for the pod's volumes. */
  readonly home: string;
  /** Variables that are added to every container's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly sources: PodSources;
  /** Called as soon as a container runs. */
  onContainer(container: RunningContainer): void;
};

export type Pod = { readonly containers: ReadonlyMap<string, RunningContainer> };

const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const READ_BY_GROUP = 0o440;

/**
 * Runs the containers of a pod as its spec says, sidecars first. It does only what this needs of
 * Kubernetes' page "Pod lifecycle".
 */
export async function startPod({
  spec,
  sources,
  onContainer,
  ...options
}: PodOptions): Promise<Pod> {
  const home = join(options.home, options.name);
  mkdirSync(home);
  const { runAsUser, runAsGroup, fsGroup = 0 } = spec.securityContext;
  const folders = new Map<string, string>();
  for (const volume of spec.volumes ?? [])
    folders.set(volume.name, await fill(join(home, volume.name), volume, fsGroup, sources));
  const token = spec.automountServiceAccountToken
    ? await sources.tokenFolder(spec.serviceAccountName)
    : '';
  const containers = new Map<string, RunningContainer>();
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const mounts = (container.volumeMounts ?? []).map(({ name, mountPath, readOnly = false }) => {
      const folder = folders.get(name);
      if (folder === undefined)
        throw new Error(`${container.name} mounts ${name}, which is no volume`);
      return [mountPath, { folder, readOnly }] as const;
    });
    const values = await secretValues(container.env ?? [], sources);
    const env = environmentOf(container, variable => values.get(variable.name) ?? options.name);
    const started = startContainer({
      ...options,
      uid: container.securityContext.runAsUser ?? runAsUser ?? 0,
      gid: container.securityContext.runAsGroup ?? runAsGroup ?? 0,
      fsGroup,
      command: (container.command ?? []).map(word => expand(word, env)),
      env: { ...options.env, ...env },
      mounts: new Map([
        ...mounts,
        ...(token === '' ? [] : [[TOKEN_PATH, { folder: token, readOnly: true }] as const]),
      ]),
    });
    containers.set(container.name, started);
    onContainer(started);
  }
  return { containers };
}

async function secretValues(env: readonly EnvironmentVariable[], sources: PodSources) {
  const values = new Map<string, string>();
  for (const { name, valueFrom } of env) {
    const { secretKeyRef } = valueFrom ?? {};
    if (secretKeyRef === undefined) continue;
    const value = (await sources.secret(secretKeyRef.name))[secretKeyRef.key];
    if (value === undefined)
      throw new Error(`Secret ${secretKeyRef.name} has no ${secretKeyRef.key}`);
    values.set(name, value.toString());
  }
  return values;
}

/**
 * Files belong to root and the pod's group, as with a kubelet. The group may write to empty
 * volumes.
 */
async function fill(
  folder: string,
  volume: Volume,
  fsGroup: number,
  sources: PodSources,
): Promise<string> {
  mkdirSync(folder);
  chownSync(folder, 0, fsGroup);
  chmodSync(folder, volume.emptyDir === undefined ? 0o755 : 0o2775);
  for (const [name, content] of Object.entries(await contentOf(volume, sources))) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chownSync(file, 0, fsGroup);
    chmodSync(file, volume.secret === undefined ? 0o644 : READ_BY_GROUP);
  }
  return folder;
}

async function contentOf(
  { secret, projected }: Volume,
  sources: PodSources,
): Promise<Readonly<Record<string, string | Buffer>>> {
  if (secret !== undefined) return await sources.secret(secret.secretName);
  const maps = projected?.sources.map(({ configMap }) => sources.configMap(configMap.name)) ?? [];
  return Object.assign({}, ...(await Promise.all(maps)));
}
