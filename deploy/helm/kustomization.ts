import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, parse, parseAllDocuments } from 'yaml';

export const MANIFESTS = join(import.meta.dirname, '..', 'kubernetes');

type Labels = Readonly<Record<string, string>>;
type Variable = { readonly name: string; readonly value: string };

/** Objects that kustomize makes of files. */
export type ConfigMapFiles = {
  readonly name: string;
  readonly namespace?: string;
  readonly files: readonly string[];
  readonly options?: { readonly labels?: Labels };
};

/** What a folder of deploy/kubernetes has by itself, without the folders that it builds on. */
export type Kustomization = {
  readonly folder: string;
  readonly files: ReadonlyMap<string, readonly Document[]>;
  readonly configMaps: readonly ConfigMapFiles[];
  readonly labels: Labels;
  /** The namespace of all of its objects. Undefined where each names its own. */
  readonly namespace: string | undefined;
  /** Variables that it sets in containers of the folders that it builds on, by Deployment. */
  readonly variables: ReadonlyMap<string, readonly Variable[]>;
};

type Patch = { readonly target: { readonly name: string }; readonly patch: string };
type Patched = {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly [{ readonly env: readonly Variable[] }] };
    };
  };
};

/** All that the chart reads of a kustomization.yaml. What else one has would be lost. */
const KNOWN: readonly string[] = [
  'apiVersion',
  'configMapGenerator',
  'kind',
  'labels',
  'namespace',
  'patches',
  'resources',
];

/**
 * Reads a folder of deploy/kubernetes. Folders among its resources are left out.
 * @throws an Error when its kustomization.yaml has a field that the chart does not know
 */
export function readKustomization(folder: string): Kustomization {
  const content = parse(readManifest(join(folder, 'kustomization.yaml')));
  const unknown = Object.keys(content).filter(key => !KNOWN.includes(key));
  if (unknown.length > 0) throw new Error(`${folder}/kustomization.yaml has ${unknown}`);
  const resources: readonly string[] = content.resources;
  const files = resources.filter(name => name.endsWith('.yaml'));
  const patches: readonly Patch[] = content.patches ?? [];
  return {
    folder,
    files: new Map(files.map(name => [name, documentsOf(readManifest(join(folder, name)))])),
    configMaps: content.configMapGenerator ?? [],
    labels: Object.assign(
      {},
      ...(content.labels ?? []).map(({ pairs }: { pairs: Labels }) => pairs),
    ),
    namespace: content.namespace,
    variables: new Map(patches.map(({ target, patch }) => [target.name, variablesOf(patch)])),
  };
}

/** Returns the text of a file of deploy/kubernetes. */
export function readManifest(path: string): string {
  return readFileSync(join(MANIFESTS, path), 'utf8');
}

/** Kubernetes reads YAML 1.1, in which 0440 is octal. */
export function documentsOf(text: string): readonly Document[] {
  return parseAllDocuments(text, { version: '1.1' });
}

function variablesOf(patch: string): readonly Variable[] {
  const { spec }: Patched = parse(patch);
  return spec.template.spec.containers[0].env;
}
