import { CLUSTER } from '#protos/type-url.ts';
import { type Resources, type XdsResource, xdsResource } from '../snapshot.ts';

/**
 * A resource whose content is `content`: what matters to the protocol is only that it has bytes.
 */
export function resource(name: string, content: string, typeUrl = CLUSTER): XdsResource {
  return xdsResource(name, { type_url: typeUrl, value: Buffer.from(`${name}=${content}`) });
}

/** Resources from name to content. */
export function resources(
  contents: Readonly<Record<string, string>>,
  typeUrl = CLUSTER,
): Resources {
  return new Map(
    Object.entries(contents).map(([name, content]) => [name, resource(name, content, typeUrl)]),
  );
}

/** What `resource` was made from. */
export function contentOf(name: string, any: { readonly value: Uint8Array }): string {
  return Buffer.from(any.value)
    .toString()
    .slice(name.length + 1);
}
