import { decodeBytes } from '#protos/decode-bytes.ts';
import { messageType } from '#protos/root.ts';
import { tagOf, WireError, WireReader } from '#protos/wire-reader.ts';
import { WIRE } from '#protos/wire-writer.ts';
import { Brought } from './brought.ts';
import type { DeltaDiscoveryRequest, DiscoveryRequest } from './discovery.ts';
import { MAX_NAMES } from './request-check.ts';

const REQUEST = messageType('envoy.service.discovery.v3.DiscoveryRequest');
const DELTA = messageType('envoy.service.discovery.v3.DeltaDiscoveryRequest');
/** See envoy/service/discovery/v3/discovery.proto, DiscoveryRequest. */
const RESOURCE_NAMES = tagOf(3, WIRE.lengthDelimited);
/** The same, DeltaDiscoveryRequest. */
const SUBSCRIBE = tagOf(3, WIRE.lengthDelimited);
const UNSUBSCRIBE = tagOf(4, WIRE.lengthDelimited);
const INITIAL_RESOURCE_VERSIONS = tagOf(5, WIRE.lengthDelimited);

/**
 * Bytes of a request that are neither names nor versions. A node and a report are less. A message
 * in them may be two bytes, and takes thirty times as much in memory.
 */
const MAX_OTHER_BYTES = 2 * 1024 * 1024;

/** Decodes what a peer sent. Throws when it is no DiscoveryRequest, or too much is beside names. */
export function decodeRequest(bytes: Buffer): DiscoveryRequest {
  return decodeBytes(REQUEST, split(bytes, [RESOURCE_NAMES]).message) as DiscoveryRequest;
}

/**
 * Decodes what a peer sent, but for the entries of `initial_resource_versions`. Throws when it is
 * no DeltaDiscoveryRequest, or has too much beside names and versions.
 */
export function decodeDeltaRequest(bytes: Buffer): DeltaDiscoveryRequest {
  const { entries, message } = split(bytes, [SUBSCRIBE, UNSUBSCRIBE], INITIAL_RESOURCE_VERSIONS);
  return Object.assign(decodeBytes(DELTA, message), {
    initial_resource_versions: new Brought(bytes, entries),
  }) as DeltaDiscoveryRequest;
}

/**
 * Returns a request without its `versions`, and where each of them begins and ends, in pairs. Of
 * names and of versions it has one more than a stream may have, so that it is refused for them.
 */
function split(bytes: Buffer, names: readonly number[], versions?: number) {
  const reader = new WireReader(bytes);
  const kept: Buffer[] = [];
  const entries: number[] = [];
  let [from, named, others] = [0, 0, 0];
  const leaveOut = (at: number) => {
    if (at > from) kept.push(bytes.subarray(from, at));
    from = reader.at;
  };
  while (reader.more) {
    const { at } = reader;
    const tag = reader.tag();
    if (tag === versions) {
      const start = reader.pass();
      if (entries.length <= 2 * MAX_NAMES) entries.push(start, reader.at);
      leaveOut(at);
      continue;
    }
    reader.skip(tag);
    if (names.includes(tag)) {
      named += 1;
      if (named > MAX_NAMES + 1) leaveOut(at);
    } else others += reader.at - at;
    if (others > MAX_OTHER_BYTES) throw new WireError('a request with too much beside names');
  }
  kept.push(bytes.subarray(from));
  return { entries, message: Buffer.concat(kept) };
}
