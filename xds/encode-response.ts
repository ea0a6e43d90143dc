import { message, number, text } from '#protos/wire-fields.ts';
import { WIRE, WireWriter } from '#protos/wire-writer.ts';
import type { DeltaDiscoveryResponse, DeltaResource } from './discovery.ts';
import { remembered } from './remembered.ts';

/** See envoy/service/discovery/v3/discovery.proto, DeltaDiscoveryResponse. */
const RESPONSE = { version: 1, resources: 2, typeUrl: 4, nonce: 5, removed: 6 } as const;
/** The same, Resource. */
const RESOURCE = { version: 1, resource: 2, name: 3, ttl: 6 } as const;
/** See google/protobuf/duration.proto. */
const DURATION = { seconds: 1 } as const;
/** See google/protobuf/any.proto. */
const ANY = { typeUrl: 1, value: 2 } as const;

/**
 * A longer value of a resource is taken from where it is. A copy would be kept beside it until the
 * next change.
 */
const LONGEST_COPIED = 4 * 1024;

/**
 * Encodes a response. What it says is encoded once for all streams whose response has the same
 * lists. Only the version and the nonce are a stream's own.
 */
export function encodeDeltaResponse(response: DeltaDiscoveryResponse): Buffer {
  const writer = new WireWriter();
  if (response.system_version_info !== '')
    text(writer, RESPONSE.version, response.system_version_info);
  text(writer, RESPONSE.typeUrl, response.type_url);
  text(writer, RESPONSE.nonce, response.nonce);
  return Buffer.concat([
    writer.view(),
    ...contentOf(response.resources, response.removed_resources),
  ]);
}

const contentOf = remembered((resources: readonly DeltaResource[], removed: readonly string[]) => {
  const parts: Uint8Array[] = [];
  const writer = new WireWriter();
  for (const resource of resources) {
    const { value } = resource.resource;
    const elsewhere = value.length > LONGEST_COPIED ? value.length : 0;
    appendResource(writer, resource, elsewhere);
    if (elsewhere > 0) {
      parts.push(writer.copy(), value);
      writer.clear();
    }
  }
  for (const name of removed) text(writer, RESPONSE.removed, name);
  return [...parts, writer.copy()];
});

/** Appends all but the last so many bytes, which are of the value. It comes last for that. */
function appendResource(
  writer: WireWriter,
  { name, version, resource, ttlMs }: DeltaResource,
  elsewhere: number,
): void {
  writer.tag(RESPONSE.resources, WIRE.lengthDelimited);
  const begun = writer.begin();
  text(writer, RESOURCE.version, version);
  text(writer, RESOURCE.name, name);
  if (ttlMs !== undefined)
    message(writer, RESOURCE.ttl, Math.ceil(ttlMs / 1000), (inner, seconds) =>
      number(inner, DURATION.seconds, seconds),
    );
  writer.tag(RESOURCE.resource, WIRE.lengthDelimited);
  const any = writer.begin();
  text(writer, ANY.typeUrl, resource.type_url);
  writer.tag(ANY.value, WIRE.lengthDelimited);
  if (elsewhere > 0) writer.varint(elsewhere);
  else writer.bytes(resource.value);
  writer.end(any, elsewhere);
  writer.end(begun, elsewhere);
}
