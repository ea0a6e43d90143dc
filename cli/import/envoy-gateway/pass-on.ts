import type { Fields } from '#resources/words/fields.ts';
import { documentOf, type ImportedDocument } from '../document.ts';
import { fieldsAt } from '../fields-at.ts';
import { closed, dropped, type PlacedRemark, type Remark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';
import { editRoute, type RuleEdit } from './rule-edits.ts';
import { ENVOY_GATEWAY, isHttpRoute } from './targets.ts';

const CONTROLLER = 'gateway.internal/gateway-controller';
const THEIRS = 'gateway.envoyproxy.io/gatewayclass-controller';

/** Returns an object of Gateway API as this gateway serves it, and what it loses. */
export function passOn(
  object: SourceObject,
  edits: readonly RuleEdit[],
): { readonly document: ImportedDocument; readonly remarks: readonly PlacedRemark[] } {
  const { group, kind, name, version } = object;
  const spec = fieldsAt(object.fields, 'spec');
  const hasSettings = kind === 'Gateway' && settingsOf(spec).group === ENVOY_GATEWAY;
  const written = isHttpRoute(object)
    ? editRoute(object, edits)
    : hasSettings
      ? withoutSettings(spec)
      : ourClass(kind, spec);
  const document = documentOf(`${group}/${version}`, kind, object, name, written);
  const remarks = [...foreignRefs(object), ...(hasSettings ? [LOST_SETTINGS] : [])];
  return {
    document: { ...document, metadata: { ...document.metadata, ...words(object) } },
    remarks: remarks.map(remark => ({ ...remark, object })),
  };
}

function ourClass(kind: string, spec: Fields): Fields {
  if (kind !== 'GatewayClass' || spec.controllerName !== THEIRS) return spec;
  const { parametersRef: _, ...rest } = spec;
  return { ...rest, controllerName: CONTROLLER };
}

const LOST_SETTINGS = dropped(
  ['spec', 'infrastructure', 'parametersRef'],
  'the settings of proxies are those of a ProxyConfig with `deployment`. Write one, and name it here',
);

function settingsOf(spec: Fields): Fields {
  return fieldsAt(spec, 'infrastructure', 'parametersRef');
}

/** A Gateway that names settings of another kind is not accepted. */
function withoutSettings(spec: Fields): Fields {
  const { parametersRef: _, ...others } = fieldsAt(spec, 'infrastructure');
  const { infrastructure: __, ...rest } = spec;
  return Object.keys(others).length === 0 ? rest : { ...rest, infrastructure: others };
}

/** Labels select objects. What a cluster has written of an object is its own. */
function words({ fields }: SourceObject): Fields {
  const { annotations, labels } = fieldsAt(fields, 'metadata');
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...kept } = fieldsAt(
    { annotations },
    'annotations',
  );
  return {
    ...(labels === undefined ? {} : { labels }),
    ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }),
  };
}

/** Rules that name kinds of Envoy Gateway are answered 500, as Gateway API demands. */
function foreignRefs(object: SourceObject): readonly Remark[] {
  if (!isHttpRoute(object) || !JSON.stringify(object.fields.spec).includes(ENVOY_GATEWAY))
    return [];
  const why = `rules that name kinds of ${ENVOY_GATEWAY} are answered 500. Remove these references`;
  return [closed(['spec', 'rules'], why)];
}
