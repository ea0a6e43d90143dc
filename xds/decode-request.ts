import { decodeBytes } from '#protos/decode-bytes.ts';
import { messageType } from '#protos/root.ts';
import { tagOf, WireReader } from '#protos/wire-reader.ts';
import { WIRE } from '#protos/wire-writer.ts';
import { Brought } from './brought.ts';
import type { DeltaDiscoveryRequest, DiscoveryRequest } from './discovery.ts';

const REQUEST = messageType('envoy.service.discovery.v3.DiscoveryRequest');
const DELTA = messageType('envoy.service.discovery.v3.DeltaDiscoveryRequest');
/** See envoy/service/discovery/v3/discovery.proto, DeltaDiscoveryRequest. */
const INITIAL_RESOURCE_VERSIONS = tagOf(5, WIRE.lengthDelimited);

/** Decodes what a peer sent. Throws when it is no DiscoveryRequest. */
export function decodeRequest(bytes: Buffer): DiscoveryRequest {
  return decodeBytes(REQUEST, bytes) as DiscoveryRequest;
}

/**
 * Decodes what a peer sent, but for the entries of `initial_resource_versions`. Throws when it is
 * no DeltaDiscoveryRequest.
 */
export function decodeDeltaRequest(bytes: Buffer): DeltaDiscoveryRequest {
  const reader = new WireReader(bytes);
  const others: Buffer[] = [];
  const entries: number[] = [];
  let from = 0;
  while (reader.more) {
    const { at } = reader;
    const tag = reader.tag();
    if (tag !== INITIAL_RESOURCE_VERSIONS) {
      reader.skip(tag);
      continue;
    }
    if (at > from) others.push(bytes.subarray(from, at));
    entries.push(reader.pass(), reader.at);
    from = reader.at;
  }
  others.push(bytes.subarray(from));
  return Object.assign(decodeBytes(DELTA, Buffer.concat(others)), {
    initial_resource_versions: new Brought(bytes, entries),
  }) as DeltaDiscoveryRequest;
}
