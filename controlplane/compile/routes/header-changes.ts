import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { addedHeaders } from '../added-headers.ts';
import { headersField } from '../header-option.ts';
import { headerOptions } from '../header-options.ts';
import type { HeaderSetters } from '../set-headers.ts';

/**
 * Returns the part of a `Route`, or of a `ClusterWeight` where Mappings share one, that changes
 * headers. Envoy applies it after filters and limits have decided, and removes first. `taken` are
 * request headers that are removed as well.
 */
export function headerChanges(
  spec: MappingSpec,
  taken: readonly string[],
  settersOf: HeaderSetters | undefined,
): JsonObject {
  return {
    ...headersField(
      'request_headers_to_add',
      headerOptions(addedHeaders(spec, settersOf), FORWARDED),
    ),
    ...headersField(
      'request_headers_to_remove',
      [...new Set([...spec.remove_request_headers, ...taken])].sort(),
    ),
    ...headersField('response_headers_to_add', headerOptions(spec.add_response_headers, FORWARDED)),
    ...headersField('response_headers_to_remove', spec.remove_response_headers),
  };
}

/** The edge has set them. A service that reads one value would not see the second. */
const FORWARDED: ReadonlySet<string> = new Set(['x-forwarded-host', 'x-forwarded-port']);
