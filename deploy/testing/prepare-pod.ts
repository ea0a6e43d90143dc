import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './compose-file.ts';
import type { Container, EnvironmentVariable, Items, PodSpec, Volume } from './manifests.ts';
import { environmentOf, expand } from './manifests.ts';
import type { ContainerOptions } from './start-container.ts';

type Files = Readonly<Record<string, string | Buffer>>;

/** What a kubelet reads from the API. */
export type PodSources = {
  /** Resolves with the files of a Secret when there is one that has these keys. */
  secret(name: string, keys: readonly string[]): Promise<Readonly<Record<string, Buffer>>>;
  configMap(name: string, keys: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** Resolves with the folder of the account's token. */
  tokenFolder(account: string): Promise<string>;
};

export type PreparedPod = {
  readonly name: string;
  readonly spec: PodSpec;
  /** The network namespace. */
  readonly namespace: string;
  readonly programs: ReadonlyMap<string, string>;
  /** Folder whose files stand in /etc of each container. */
  readonly etc: string;
  /** Empty folder for the pod's volumes. */
  readonly home: string;
  /** What a variable with this `fieldPath` is. */
  field(path: string): string;
  /** Variables that are added to every container's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Returns what an image runs when its container has no command. */
  entrypoint(image: string): readonly string[];
  /** Returns the folder of what an image runs. */
  program(image: string): string;
  readonly sources: PodSources;
};

const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const READ_BY_GROUP = 0o440;

/** Node.js finds npm's packages there too, for a program that has none. */
const PACKAGES = ['/node_modules', { folder: join(ROOT, 'node_modules'), readOnly: true }] as const;

/**
 * Fills the volumes of a pod and returns how to start its containers, sidecars first. It does only
 * what the tests need of Kubernetes' page "Pod lifecycle".
 */
export async function preparePod(
  pod: PreparedPod,
): Promise<readonly (readonly [Container, ContainerOptions])[]> {
  const { spec, sources, namespace, programs, etc } = pod;
  const { runAsUser, runAsGroup, fsGroup = 0 } = spec.securityContext;
  const folders = new Map<string, string>();
  for (const volume of spec.volumes ?? [])
    folders.set(volume.name, await fill(join(pod.home, volume.name), volume, fsGroup, sources));
  const token = spec.automountServiceAccountToken
    ? await sources.tokenFolder(spec.serviceAccountName)
    : '';
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  return Promise.all(
    all.map(async container => {
      const values = await valuesOf(container.env ?? [], pod);
      const env = environmentOf(container, ({ name }) => values.get(name) ?? '');
      const { command = pod.entrypoint(container.image), args = [] } = container;
      const started = {
        namespace,
        programs,
        program: pod.program(container.image),
        etc,
        hostname: pod.name,
        uid: container.securityContext?.runAsUser ?? runAsUser ?? 0,
        gid: container.securityContext?.runAsGroup ?? runAsGroup ?? 0,
        fsGroup,
        command: [...command, ...args].map(word => expand(word, env)),
        env: { ...pod.env, ...env },
        mounts: new Map([
          ...mountsOf(container, folders),
          PACKAGES,
          ...(token === '' ? [] : [[TOKEN_PATH, { folder: token, readOnly: true }] as const]),
        ]),
      };
      return [container, started] as const;
    }),
  );
}

function mountsOf({ name, volumeMounts = [] }: Container, folders: ReadonlyMap<string, string>) {
  return volumeMounts.map(({ name: volume, mountPath, readOnly = false }) => {
    const folder = folders.get(volume);
    if (folder === undefined) throw new Error(`${name} mounts ${volume}, which is no volume`);
    return [mountPath, { folder, readOnly }] as const;
  });
}

async function valuesOf(env: readonly EnvironmentVariable[], { sources, field }: PreparedPod) {
  const values = new Map<string, string>();
  for (const { name, valueFrom } of env) {
    const { secretKeyRef: secret, configMapKeyRef: map, fieldRef } = valueFrom ?? {};
    const value =
      (secret && (await sources.secret(secret.name, [secret.key]))[secret.key]) ??
      (map && (await sources.configMap(map.name, [map.key]))[map.key]) ??
      (fieldRef && field(fieldRef.fieldPath));
    if (valueFrom !== undefined && value === undefined)
      throw new Error(`there is nothing for the variable ${name}`);
    values.set(name, String(value ?? ''));
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
  const { secret, configMap, projected } = volume;
  const given = [secret, configMap, projected].some(each => each !== undefined);
  mkdirSync(folder);
  chownSync(folder, 0, fsGroup);
  chmodSync(folder, given ? 0o755 : 0o2775);
  for (const [name, content] of Object.entries(await contentOf(volume, sources))) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chownSync(file, 0, fsGroup);
    chmodSync(file, secret === undefined ? 0o644 : READ_BY_GROUP);
  }
  return folder;
}

async function contentOf(
  { secret, configMap, projected }: Volume,
  sources: PodSources,
): Promise<Files> {
  if (secret !== undefined) return chosen(secret, keys => sources.secret(secret.secretName, keys));
  if (configMap !== undefined)
    return chosen(configMap, keys => sources.configMap(configMap.name, keys));
  const parts = (projected?.sources ?? []).map(async ({ secret: each, configMap: map }) => {
    if (each !== undefined) return chosen(each, keys => sources.secret(each.name, keys));
    if (map !== undefined) return chosen(map, keys => sources.configMap(map.name, keys));
    return {};
  });
  return Object.assign({}, ...(await Promise.all(parts)));
}

async function chosen(
  { items = [] }: Items,
  read: (keys: readonly string[]) => Promise<Files>,
): Promise<Files> {
  const files = await read(items.map(({ key }) => key));
  if (items.length === 0) return files;
  return Object.fromEntries(items.map(({ key, path }) => [path, files[key] ?? '']));
}
