import { cutText } from '#grpc/cut-text.ts';
import { tagOf, type WireReader } from '#protos/wire-reader.ts';
import { WIRE } from '#protos/wire-writer.ts';

/** Which proxy it is, and of which node group. */
export type NodeName = { readonly id: string; readonly group: string };

/** See envoy/config/core/v3/base.proto. */
const NODE = {
  id: tagOf(1, WIRE.lengthDelimited),
  cluster: tagOf(2, WIRE.lengthDelimited),
} as const;

/** An id or a group is cut to this many characters. */
const MAX_NAME = 253;

/** Reads the id and the group of Envoy's `Node`. */
export function readNode(reader: WireReader): NodeName {
  const outer = reader.enter();
  let id = '';
  let group = '';
  while (reader.more) {
    const tag = reader.tag();
    if (tag === NODE.id) id = cutText(reader.string(), MAX_NAME);
    else if (tag === NODE.cluster) group = cutText(reader.string(), MAX_NAME);
    else reader.skip(tag);
  }
  reader.leave(outer);
  return { id, group };
}
