import { tagOf, WireReader } from '#protos/wire-reader.ts';
import { WIRE } from '#protos/wire-writer.ts';

/** What a simulated proxy reads of a DeltaDiscoveryResponse. */
export type Answer = {
  readonly typeUrl: string;
  readonly nonce: string;
  /** Name and version of each resource. */
  readonly resources: readonly (readonly [name: string, version: string])[];
  readonly removed: readonly string[];
};

/** See envoy/service/discovery/v3/discovery.proto, DeltaDiscoveryResponse and Resource. */
const RESOURCES = tagOf(2, WIRE.lengthDelimited);
const TYPE_URL = tagOf(4, WIRE.lengthDelimited);
const NONCE = tagOf(5, WIRE.lengthDelimited);
const REMOVED = tagOf(6, WIRE.lengthDelimited);
const VERSION = tagOf(1, WIRE.lengthDelimited);
const NAME = tagOf(3, WIRE.lengthDelimited);

/** Reads a response. Without `whole`, it leaves out the resources, which costs less. */
export function readAnswer(bytes: Buffer, whole: boolean): Answer {
  const reader = new WireReader(bytes);
  let typeUrl = '';
  let nonce = '';
  const resources: [string, string][] = [];
  const removed: string[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === TYPE_URL) typeUrl = reader.string();
    else if (tag === NONCE) nonce = reader.string();
    else if (tag === REMOVED) removed.push(reader.string());
    else if (tag === RESOURCES && whole) resources.push(readResource(reader));
    else reader.skip(tag);
  }
  return { typeUrl, nonce, resources, removed };
}

function readResource(reader: WireReader): [string, string] {
  let name = '';
  let version = '';
  const outer = reader.enter();
  while (reader.more) {
    const tag = reader.tag();
    if (tag === NAME) name = reader.string();
    else if (tag === VERSION) version = reader.string();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return [name, version];
}
