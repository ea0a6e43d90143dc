import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import type { Label } from '#resources/labels/label-pattern.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import type { RouteMatch } from './route-match.ts';

/** A label group of a request, or why the request does not have it. */
export type RequestGroup =
  | { readonly labels: readonly Label[] }
  | { readonly missingHeader: string };

/** Sources of label groups beside the request. */
export type LabelSources = {
  readonly request: EnvoyRequest;
  /** Envoy's `node.cluster`. */
  readonly nodeGroup: string;
  /** The cluster that was chosen for the request. */
  readonly cluster: string;
};

/**
 * Returns the label groups (descriptors) that Envoy sends for a request. There is one for each
 * `RateLimit` of the route, or of its virtual host when the route has none. They keep the order,
 * and belong to the stage of one filter. A route that Envoy answers itself has none. Throws an
 * Error for an action that the compiler does not write. Source: Envoy's pages of
 * `RouteAction.rate_limits` and `RateLimit.Action`.
 */
export function labelGroups(
  { route, virtualHost }: RouteMatch,
  sources: LabelSources,
  stage: number,
): readonly RequestGroup[] {
  if (route.route === undefined) return [];
  const own = route.route.rate_limits ?? [];
  const rateLimits = own.length > 0 ? own : (virtualHost.rate_limits ?? []);
  const counted = rateLimits.filter(each => (each.stage ?? 0) === stage);
  return counted.map(({ actions }) => toGroup(actions, sources));
}

function toGroup(actions: Json | undefined, sources: LabelSources): RequestGroup {
  const labels: Label[] = [];
  for (const action of objectsIn(actions)) {
    const label = toLabel(action, sources);
    if ('missingHeader' in label) return label;
    labels.push(label);
  }
  return { labels };
}

function toLabel(
  action: JsonObject,
  sources: LabelSources,
): Label | { readonly missingHeader: string } {
  const [[type, settings] = [], ...others] = Object.entries(action);
  if (type !== undefined && others.length === 0 && isJsonObject(settings)) {
    const { descriptor_value, descriptor_key, header_name, ...unknown } = settings;
    if (Object.keys(unknown).length === 0) {
      if (type === 'request_headers')
        return headerLabel(String(header_name), String(descriptor_key), sources);
      if (type === 'generic_key')
        return { key: String(descriptor_key ?? type), value: String(descriptor_value) };
      if (type === 'remote_address') return { key: type, value: sources.request.remoteAddress };
      if (type === 'source_cluster') return { key: type, value: sources.nodeGroup };
      if (type === 'destination_cluster') return { key: type, value: sources.cluster };
    }
  }
  throw new Error(`a rate limit action that explain does not know: ${JSON.stringify(action)}`);
}

/** The first of repeated fields counts. An empty one is set. */
function headerLabel(name: string, key: string, { request }: LabelSources) {
  const value = request.headers.get(name.toLowerCase())?.[0];
  return value === undefined ? { missingHeader: name } : { key, value };
}
