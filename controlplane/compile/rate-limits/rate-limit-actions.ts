import type { JsonObject } from '#protos/json.ts';
import type { LabelSpecifier } from '#resources/labels/label-specifier.ts';

/**
 * Returns Envoy's `RateLimit`: the labels of one group, in their order, become the entries of one
 * descriptor. The group is not empty. The filter of this stage counts it.
 */
export function toRateLimit(specifiers: readonly LabelSpecifier[], stage: number): JsonObject {
  return { ...(stage === 0 ? {} : { stage }), actions: specifiers.map(toAction) };
}

/**
 * Returns the action that makes a label's descriptor entry. When the header of `request_headers` is
 * absent, Envoy sends no descriptor for the whole group. See
 * docs/adr/0009-rate-limits-at-the-edge.md and Envoy's page "Rate limit", composing actions.
 */
function toAction(specifier: LabelSpecifier): JsonObject {
  switch (specifier.type) {
    case 'source_cluster':
      return { source_cluster: {} };
    case 'destination_cluster':
      return { destination_cluster: {} };
    case 'remote_address':
      return { remote_address: {} };
    case 'generic_key':
      return { generic_key: { descriptor_value: specifier.value } };
    case 'path':
      return { request_headers: { header_name: ':path', descriptor_key: specifier.key } };
    case 'request_header':
      return { request_headers: { header_name: specifier.header, descriptor_key: specifier.key } };
  }
}
