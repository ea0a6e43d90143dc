import { type Document, Scalar } from 'yaml';
import { expression, inside, json } from './holes.ts';
import { addLine, CONTAINER, listAt, mapAt, POD, setLine } from './nodes.ts';
import {
  BOOLEAN,
  type Define,
  isOn,
  type JsonSchema,
  OBJECT,
  OBJECTS,
  TEXT,
  TEXTS,
} from './values.ts';

/** What one may give for all pods, or in place of that for those of one service. */
const PLACEMENT: Readonly<Record<string, readonly [JsonSchema, unknown]>> = {
  nodeSelector: [TEXTS, {}],
  tolerations: [OBJECTS, []],
  affinity: [OBJECT, {}],
  priorityClassName: [TEXT, ''],
};

/** By the bootstrap, which is the same in all of them. */
const SHEDS = '. Envoy sheds load at 2 GiB, so its limit of memory is above that';
const ITS_PODS = 'Its pods. `null`: as many as an autoscaler of yours wants';

/** What OpenShift gives to pods itself, and rejects where they name it. */
const USER = ['runAsUser', 'runAsGroup', 'fsGroup'] as const;

/** Defines where the pods of all services run, and as whom. */
export function definePlacement(define: Define): void {
  define({
    name: 'fixedUsers',
    schema: BOOLEAN,
    default: true,
    description: 'Pods run as the users of their images. `false`: as those that OpenShift gives',
  });
  for (const [name, [schema, fallback]] of Object.entries(PLACEMENT))
    define({
      name,
      schema,
      default: fallback,
      description: `\`${name}\` of the pods whose service has none of its own`,
    });
}

/**
 * Makes into values what pods of a Deployment may use, where they run and how they are fetched.
 * Pods are replaced when `checksum`, that of the files they read at their start, is another.
 */
export function editPods(document: Document, define: Define, checksum: string | undefined): void {
  const service = String(document.getIn(['metadata', 'name']));
  const valueAt = (name: string, schema: JsonSchema, fallback: unknown, description: string) =>
    define({ name: `${keyOf(service)}.${name}`, schema, default: fallback, description });
  const container = mapAt(document, ...CONTAINER);
  const pod = mapAt(document, ...POD);
  const isStore = service.startsWith('valkey');

  const security = mapAt(document, ...POD, 'securityContext');
  for (const key of USER)
    setLine(security, key, inside(`if ${isOn('fixedUsers')}`, new Scalar(security.get(key))));
  if (!isStore) {
    const count = { type: 'integer', minimum: 0 };
    const replicas = document.getIn(['spec', 'replicas']);
    const called = define({
      name: `${keyOf(service)}.replicas`,
      schema: count,
      default: replicas,
      mayBeNull: true,
      description: ITS_PODS,
    });
    // A number, or `null`, would count at each upgrade in place of what an autoscaler wants.
    const given = inside(`if not (kindIs "invalid" ${called})`, json(called));
    setLine(mapAt(document, 'spec'), 'replicas', given);
  }
  const { resources } = container.toJS(document) as { readonly resources: unknown };
  const use = `What a pod may use${service === 'edge' ? SHEDS : ''}`;
  container.set('resources', json(valueAt('resources', OBJECT, resources, use)));
  const annotations = valueAt('podAnnotations', TEXTS, {}, 'Annotations of its pods');
  setLine(
    mapAt(document, 'spec', 'template', 'metadata'),
    'annotations',
    checksum === undefined
      ? inside(`with ${annotations}`, json('.'))
      : json(`merge (dict "checksum/config" "${checksum}") (${annotations} | default dict)`),
  );
  for (const [name, [schema, fallback]] of Object.entries(PLACEMENT)) {
    const own = valueAt(name, schema, fallback, `\`${name}\` of its pods`);
    setLine(pod, name, inside(`with ${own} | default $.Values.${name}`, json('.')));
  }
  setLine(pod, 'imagePullSecrets', inside('with $.Values.imagePullSecrets', json('.')));
  setLine(container, 'imagePullPolicy', inside('with $.Values.imagePullPolicy', expression('.')));
  if (isStore) return;
  const volumes = valueAt('volumes', OBJECTS, [], 'Further volumes of its pods');
  addLine(listAt(document, ...POD, 'volumes'), inside(`range ${volumes}`, json('.')));
  const mounts = valueAt('volumeMounts', OBJECTS, [], 'Where these are mounted');
  addLine(listAt(document, ...CONTAINER, 'volumeMounts'), inside(`range ${mounts}`, json('.')));
}

/** Returns the key of the values of a service, `extAuthz` for `ext-authz`. */
export function keyOf(service: string): string {
  return service.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
