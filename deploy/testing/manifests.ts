import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { kubectl } from '#kubernetes/testing/kube-apiserver.ts';
import { ROOT } from './compose-file.ts';

/** An object of the manifests, with what every kind has. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
};

type KeyRef = { readonly name: string; readonly key: string };

export type EnvironmentVariable = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: KeyRef;
    readonly configMapKeyRef?: KeyRef;
  };
};

type UserIds = { readonly runAsUser?: number; readonly runAsGroup?: number };

export type Probe = {
  readonly httpGet?: {
    readonly path: string;
    readonly port: string | number;
    readonly scheme?: string;
  };
  readonly tcpSocket?: { readonly port: string | number };
  readonly exec?: { readonly command: readonly string[] };
  readonly failureThreshold?: number;
};

export type Container = {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: {
    readonly preStop: {
      readonly exec?: { readonly command: readonly string[] };
      readonly sleep?: { readonly seconds: number };
    };
  };
  readonly restartPolicy?: string;
  readonly resources: Readonly<
    Record<'requests' | 'limits', { readonly cpu: string; readonly memory: string }>
  >;
  readonly securityContext: UserIds & { readonly readOnlyRootFilesystem?: boolean };
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
};

/** Which keys of an object become which files. Default: all, by their names. */
export type Items = {
  readonly items?: readonly { readonly key: string; readonly path: string }[];
  readonly optional?: boolean;
};
export type SecretFiles = Items & { readonly secretName: string };
export type ConfigMapFiles = Items & { readonly name: string };

export type Volume = {
  readonly name: string;
  readonly emptyDir?: object;
  readonly secret?: SecretFiles;
  readonly configMap?: ConfigMapFiles;
  readonly projected?: {
    readonly sources: readonly {
      readonly configMap?: ConfigMapFiles;
      readonly secret?: Items & { readonly name: string };
    }[];
  };
};

export type PodSpec = {
  readonly securityContext: UserIds & {
    readonly fsGroup?: number;
    readonly sysctls?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
};

/** A Deployment or a StatefulSet. */
export type Workload = Manifest & {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
};

/**
 * Returns the objects that kustomize makes of a folder of deploy/. Throws an Error with its output
 * when a document is no object.
 */
export function manifestsOf(folder: string): readonly Manifest[] {
  const { status, stdout, stderr } = kubectl({ kubeconfig: '' }, [
    'kustomize',
    join(ROOT, 'deploy', folder),
  ]);
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map(document => document.toJS());
}

export function ofKind<T extends Manifest>(
  manifests: readonly Manifest[],
  kind: string,
): readonly T[] {
  return manifests.filter((manifest): manifest is T => manifest.kind === kind);
}

export function workloadsOf(manifests: readonly Manifest[]): readonly Workload[] {
  return [
    ...ofKind<Workload>(manifests, 'Deployment'),
    ...ofKind<Workload>(manifests, 'StatefulSet'),
  ];
}

/** Returns the containers that stay, sidecars first. */
export function containersOf({ spec }: Workload): readonly Container[] {
  const { initContainers = [], containers } = spec.template.spec;
  return [...initContainers, ...containers];
}

/** Returns the named object. Throws when there is none. */
export function named<T extends Manifest>(manifests: readonly T[], name: string): T {
  const found = manifests.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`the manifests have no ${name}`);
  return found;
}

/**
 * Returns the environment of a container. Kubernetes puts the values of earlier variables into
 * later ones: `$(NAME)`.
 */
export function environmentOf(
  { env = [] }: Container,
  given: (variable: EnvironmentVariable) => string,
): Readonly<Record<string, string>> {
  const environment: Record<string, string> = {};
  for (const variable of env) {
    const value = variable.value ?? given(variable);
    environment[variable.name] = expand(value, environment);
  }
  return environment;
}

/** Expands the known variables. Unknown ones stay as they are written. */
export function expand(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(/\$\(([A-Z_]+)\)/g, (whole, name: string) => environment[name] ?? whole);
}
