import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { Document, isScalar, Pair, Scalar, visit } from 'yaml';
import { NAMED_TEMPLATE } from './gateway-id.ts';
import { around, expression, fillHoles, hole, json } from './holes.ts';
import { definePulling, editImage, IMAGE_TEMPLATES } from './images.ts';
import {
  type ConfigMapFiles,
  documentsOf,
  type Kustomization,
  readKustomization,
  readManifest,
} from './kustomization.ts';
import { mapAt, nameOf } from './nodes.ts';
import { editObject, KEEP } from './objects.ts';
import { definePlacement, editPods } from './pods.ts';
import { BOOLEAN, choice, type Define, isOn } from './values.ts';
import { editVariables, NAMESPACES, OWN_EDGES } from './variables.ts';

/** The namespaces of our manifests. */
const SYSTEM = 'gateway';
const RESOURCES = 'gateway-resources';
/** Helm knows and makes the namespace of a release itself. */
const LEFT_OUT: readonly string[] = ['Namespace gateway'];
/** Definitions and their rules are files, because they may have braces of their own. */
const DEFINITIONS: Readonly<Record<string, string>> = {
  'crds.yaml': isOn('crds.install'),
  'field-policies.yaml': isOn('crds.fieldPolicies'),
};

/** Every cluster has them. Helm takes the first when no namespace is named. */
const OF_CLUSTER = 'list "default" "kube-system" "kube-public" "kube-node-lease"';

/**
 * The control plane may read any Secret beside resources, but none of the system. The network
 * policies close all pods of the release's namespace that they do not name. `lookup` finds nothing
 * where the chart is only rendered.
 */
const CHECKS = `{{- if has $.Release.Namespace (${NAMESPACES.resources}) }}
{{- fail "resources.namespace and resources.namespaces must not have the namespace of the release" }}
{{- end }}
{{- if and $.Release.IsInstall (${isOn('networkPolicies.enabled')}) (has $.Release.Namespace (${OF_CLUSTER})) }}
{{- if lookup "v1" "Namespace" "" $.Release.Namespace }}
{{- fail (printf "the network policies would close all pods in the namespace %s: name another with --namespace" $.Release.Namespace) }}
{{- end }}
{{- end }}
`;

/** Returns the files below `templates/` and `files/` of the chart, and defines its values. */
export function templates(define: Define): ReadonlyMap<string, string> {
  defineWhole(define);
  const gatewayApi = readKustomization('gateway-api');
  const parts = [readKustomization('system'), gatewayApi, readKustomization('monitoring')];
  const files = new Map([
    ['templates/_image.tpl', IMAGE_TEMPLATES],
    ['templates/_named.tpl', NAMED_TEMPLATE],
  ]);
  for (const [file, condition] of Object.entries(DEFINITIONS)) {
    const copy = join('files', file);
    files.set(copy, kept(readManifest(file)));
    files.set(join('templates', file), `${around(`if ${condition}`, content(copy))}\n`);
  }
  for (const part of parts) {
    for (const { files: names } of part.configMaps)
      for (const name of names)
        files.set(join('files', name), readManifest(join(part.folder, name)));
    const made = [...part.files, ['config-maps.yaml', part.configMaps.map(configMap)] as const];
    for (const [file, documents] of made) {
      const objects = documents
        .filter(document => !LEFT_OUT.includes(nameOf(document)))
        .map(document => template(document, { part, file, gatewayApi, define }));
      if (objects.length > 0) files.set(join('templates', part.folder, file), joined(objects));
    }
  }
  files.set('templates/checks.yaml', CHECKS);
  return files;
}

/** Defines what stands in no manifest. */
function defineWhole(define: Define): void {
  const switchOf = (name: string, isOn: boolean, description: string) =>
    define({ name, schema: BOOLEAN, default: isOn, description });
  definePulling(define);
  definePlacement(define);
  switchOf('crds.install', true, 'Installs and upgrades the definitions of our kinds');
  switchOf('crds.fieldPolicies', true, 'Rejects unknown fields when an object is written');
  switchOf('networkPolicies.enabled', true, 'Allows only the connections that are needed');
  switchOf('gatewayApi.enabled', false, 'Serves Gateway API, in all namespaces');
  define({
    name: 'gatewayApi.edges',
    schema: choice('own', 'shared'),
    default: 'own',
    description: '`own`: each Gateway has proxies of its own. `shared`: all have those of the edge',
  });
  switchOf('monitoring.enabled', false, 'Adds PodMonitors, alerts and dashboards');
}

type Context = {
  readonly part: Kustomization;
  readonly file: string;
  readonly gatewayApi: Kustomization;
  readonly define: Define;
};

/** The text of an object, and the statements around it from outside in. */
type Template = { readonly statements: readonly string[]; readonly text: string };

function template(document: Document, { part, file, gatewayApi, define }: Context): Template {
  label(document, part);
  if (part.namespace !== undefined)
    mapAt(document, 'metadata').add(document.createPair('namespace', part.namespace));
  if (document.get('kind') === 'Deployment') {
    editImage(document, define);
    editPods(document, define, checksumOf(document, part));
    if (!file.startsWith('valkey')) editVariables(document, gatewayApi, define);
  }
  editObject(document, define);
  const statements = statementsOf(document, part, file);
  nameNamespaces(document);
  return { statements, text: `---\n${fillHoles(written(document))}` };
}

/** Returns the text of a file. Objects that stand behind each other share their statements. */
function joined(objects: readonly Template[]): string {
  const groups: Template[] = [];
  for (const { statements, text } of objects) {
    const last = groups.at(-1);
    if (last !== undefined && last.statements.join() === statements.join())
      groups.splice(-1, 1, { statements, text: last.text + text });
    else groups.push({ statements, text });
  }
  return groups
    .map(({ statements, text }) =>
      statements.reduceRight((lines, statement) => `${around(statement, lines)}\n`, text),
    )
    .join('');
}

function label(document: Document, { labels }: Kustomization): void {
  if (Object.keys(labels).length === 0) return;
  const paths = [['metadata'], ['spec', 'template', 'metadata']];
  for (const path of paths.filter(each => document.hasIn(each)))
    for (const [name, value] of Object.entries(labels)) {
      const metadata = mapAt(document, ...path);
      if (!metadata.has('labels')) metadata.set('labels', document.createNode({}, { flow: true }));
      mapAt(document, ...path, 'labels').set(name, value);
    }
}

/** Returns which conditions an object has, and whether there is one for each of several names. */
function statementsOf(
  document: Document,
  { folder }: Kustomization,
  file: string,
): readonly string[] {
  const [kind, name] = nameOf(document).split(' ');
  const conditions = [
    ...(folder === 'gateway-api' ? ['$.Values.gatewayApi.enabled'] : []),
    ...(folder === 'gateway-api' && OF_OWN_EDGES.includes(name ?? '') ? [`eq ${OWN_EDGES}`] : []),
    ...(folder === 'monitoring' ? ['$.Values.monitoring.enabled'] : []),
    ...(kind === 'NetworkPolicy' ? [isOn('networkPolicies.enabled')] : []),
    ...(kind === 'Namespace' ? [isOn('resources.createNamespace')] : []),
    ...(file === 'valkey.yaml' || name === 'valkey' ? ['not $.Values.sessions.redisUrl'] : []),
    ...(file === 'valkey-counters.yaml' || name === 'valkey-counters'
      ? ['not $.Values.counters.redisUrl']
      : []),
  ];
  const all = conditions.map(each => (conditions.length > 1 ? `(${each})` : each)).join(' ');
  return [
    ...(conditions.length > 0 ? [`if ${conditions.length > 1 ? 'and ' : ''}${all}`] : []),
    ...rangeOf(document),
  ];
}

const OF_OWN_EDGES: readonly string[] = ['gateway-edges', 'gateway-edge-identities'];

/** Binds the roles that read in a namespace once in each namespace that is read. */
function rangeOf(document: Document): readonly string[] {
  if (document.get('kind') !== 'RoleBinding') return [];
  const role = document.getIn(['roleRef', 'name']);
  const list =
    role === 'gateway-resources'
      ? NAMESPACES.resources
      : role === 'gateway-instances'
        ? NAMESPACES.instances
        : undefined;
  if (list === undefined) return [];
  mapAt(document, 'metadata').set('namespace', json('$namespace'));
  return [`range $namespace := ${list}`];
}

/** The namespaces of our manifests become those of the release and of its resources. */
function nameNamespaces(document: Document): void {
  const release = '{{ $.Release.Namespace }}';
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.value !== 'namespace' || !isScalar(value)) return;
      if (value.value === SYSTEM) Object.assign(value, expression('$.Release.Namespace'));
      if (value.value === RESOURCES) Object.assign(value, json('$.Values.resources.namespace'));
    },
    Scalar(_, scalar) {
      if (typeof scalar.value !== 'string') return;
      scalar.value = scalar.value
        .replace(/(?<=\w\.)gateway(?=\.svc\b)/g, hole(release))
        .replace(/(?<=serviceaccount:)gateway(?=:)/g, hole(release))
        .replace(/(?<=request\.namespace [!=]= ')gateway(?=')/g, hole(release));
    },
  });
}

function configMap({ name, namespace, files, options }: ConfigMapFiles): Document {
  const data = files.map(
    file => new Pair(new Scalar(basename(file)), json(`$.Files.Get "${join('files', file)}"`)),
  );
  const document = new Document({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(options?.labels !== undefined && { labels: options.labels }),
    },
    data: {},
  });
  const map = mapAt(document, 'data');
  for (const pair of data) map.add(pair);
  return document;
}

/** Returns the checksum of what pods mount of the part's files, which they read at their start. */
function checksumOf(document: Document, { configMaps, folder }: Kustomization): string | undefined {
  const text = JSON.stringify(document.toJS());
  const mounted = configMaps.filter(({ name }) => text.includes(`"configMap":{"name":"${name}"}`));
  if (mounted.length === 0) return undefined;
  const hash = createHash('sha256');
  for (const { files } of mounted)
    for (const file of files) hash.update(readManifest(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}

function content(file: string): string {
  return `{{ $.Files.Get "${file}" }}`;
}

/** Definitions stay when a release is uninstalled, and with them all objects of the kinds. */
function kept(yaml: string): string {
  const documents = documentsOf(yaml);
  for (const document of documents)
    if (document.get('kind') === 'CustomResourceDefinition')
      document.setIn(['metadata', 'annotations'], document.createNode(KEEP));
  return documents.map(document => `---\n${written(document)}`).join('');
}

function written(document: Document): string {
  return document.toString({ directives: false, lineWidth: 0 });
}
