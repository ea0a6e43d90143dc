import { tagOf, WireError, WireReader } from '#protos/wire-reader.ts';
import { WIRE } from '#protos/wire-writer.ts';
import type { Label } from '#resources/labels/label-pattern.ts';
import type { Descriptor, RateLimitRequest } from './request.ts';

/** Source: envoy/service/ratelimit/v3/rls.proto. */
const REQUEST = {
  domain: tagOf(1, WIRE.lengthDelimited),
  descriptors: tagOf(2, WIRE.lengthDelimited),
  hits_addend: tagOf(3, WIRE.varint),
} as const;

/** Source: envoy/extensions/common/ratelimit/v3/ratelimit.proto, RateLimitDescriptor. */
const DESCRIPTOR = {
  entries: tagOf(1, WIRE.lengthDelimited),
  hits_addend: tagOf(3, WIRE.lengthDelimited),
  is_negative_hits: tagOf(4, WIRE.varint),
} as const;

/** Source: the same, RateLimitDescriptor.Entry. */
const ENTRY = {
  key: tagOf(1, WIRE.lengthDelimited),
  value: tagOf(2, WIRE.lengthDelimited),
} as const;

/** Source: google/protobuf/wrappers.proto, UInt64Value. */
const UINT64_VALUE = { value: tagOf(1, WIRE.varint) } as const;

/**
 * Descriptors of a request and their labels, together. An Envoy sends some of them. One may be two
 * bytes, and takes a hundred times as much in memory.
 */
const MOST_ITEMS = 100_000;

/**
 * Decodes what we read of an `envoy.service.ratelimit.v3.RateLimitRequest`, and skips other fields.
 * @returns undefined when the bytes are no such message, or have more than MOST_ITEMS
 */
export function decodeRequest(bytes: Buffer): RateLimitRequest | undefined {
  try {
    return readRequest(new WireReader(bytes));
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

function readRequest(reader: WireReader): RateLimitRequest {
  let domain = '';
  let hits_addend = 0;
  let items = 0;
  const descriptors: Descriptor[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === REQUEST.domain) domain = reader.utf8();
    else if (tag === REQUEST.descriptors) {
      const descriptor = readDescriptor(reader);
      items += 1 + descriptor.entries.length;
      checkItems(items);
      descriptors.push(descriptor);
    } else if (tag === REQUEST.hits_addend) hits_addend = reader.uint32();
    else reader.skip(tag);
  }
  return { domain, descriptors, hits_addend };
}

function readDescriptor(reader: WireReader): Descriptor {
  const outer = reader.enter();
  const entries: Label[] = [];
  let hits_addend: { readonly value: number } | null = null;
  let is_negative_hits = false;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === DESCRIPTOR.entries) checkItems(entries.push(readEntry(reader)));
    else if (tag === DESCRIPTOR.hits_addend)
      hits_addend = readUint64Value(reader, hits_addend?.value);
    else if (tag === DESCRIPTOR.is_negative_hits) is_negative_hits = reader.uint64() !== 0;
    else reader.skip(tag);
  }
  reader.leave(outer);
  return { entries, hits_addend, is_negative_hits };
}

function checkItems(items: number): void {
  if (items > MOST_ITEMS) throw new WireError('there are too many descriptors and labels');
}

function readEntry(reader: WireReader): Label {
  const outer = reader.enter();
  let key = '';
  let value = '';
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ENTRY.key) key = reader.utf8();
    else if (tag === ENTRY.value) value = reader.headerValue();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return { key, value };
}

/**
 * Merges a message that comes twice, as protobuf says. Without a value here, the `earlier` one
 * stays.
 */
function readUint64Value(reader: WireReader, earlier = 0): { readonly value: number } {
  const outer = reader.enter();
  let value = earlier;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === UINT64_VALUE.value) value = reader.uint64();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return { value };
}
