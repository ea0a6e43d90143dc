import { type ServerReadableStream, type sendUnaryData, status } from '@grpc/grpc-js';
import { WireError } from '#protos/wire-reader.ts';
import { type Peer, peerOf } from '#xds/peer.ts';
import { MAX_MESSAGE_BYTES } from './bounds.ts';
import type { NodeName } from './node-name.ts';

export type FigureCall = ServerReadableStream<Buffer, object>;

/** Reads the messages of one stream. */
export type MessageReader = {
  /** Reads a message. Throws a WireError or a PeerError about it. */
  read(bytes: Buffer): void;
  ended(): void;
};

/** A mistake of a client, which loses its stream. */
export class PeerError extends Error {
  override readonly name = 'PeerError';
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

export type StreamParts = {
  /**
   * Returns why this client may not push the figures of a proxy.
   * @returns undefined when it may
   */
  refuse(node: NodeName, peer: Peer): string | undefined;
  /** Called after an internal error, which ended the stream. */
  failed(error: unknown, call: FigureCall): void;
};

/** Leads the stream of one client. Whatever the client sends, it can only end its own stream. */
export function leadStream(
  call: FigureCall,
  reply: sendUnaryData<object>,
  reader: MessageReader,
  { failed }: StreamParts,
): void {
  let isOpen = true;
  const close = () => {
    if (isOpen) reader.ended();
    isOpen = false;
  };
  call.on('data', (bytes: Buffer) => {
    if (!isOpen) return;
    try {
      if (bytes.length > MAX_MESSAGE_BYTES)
        throw new PeerError(status.RESOURCE_EXHAUSTED, `more than ${MAX_MESSAGE_BYTES} bytes`);
      reader.read(bytes);
    } catch (error) {
      close();
      if (!isMistake(error)) failed(error, call);
      reply(answerTo(error), null);
    }
  });
  call.on('end', () => {
    if (isOpen) reply(null, {});
    close();
  });
  call.on('cancelled', close);
  call.on('error', close);
}

/** Returns what checks and holds the name of the proxy at the other end. */
export function nodeOfStream(call: FigureCall, { refuse }: StreamParts) {
  let node: NodeName | undefined;
  return {
    /** Takes the first name. Throws a PeerError when the client may not have it. */
    take(name: NodeName): void {
      if (node !== undefined) return;
      if (name.id === '') throw new PeerError(status.INVALID_ARGUMENT, 'node.id is missing');
      const reason = refuse(name, peerOf(call));
      if (reason !== undefined) throw new PeerError(status.PERMISSION_DENIED, reason);
      node = name;
    },
    get(): NodeName {
      if (node !== undefined) return node;
      throw new PeerError(status.INVALID_ARGUMENT, 'the first message must carry the node');
    },
  };
}

function isMistake(error: unknown): boolean {
  return error instanceof WireError || error instanceof PeerError;
}

function answerTo(error: unknown): { code: status; details: string } {
  if (error instanceof PeerError) return { code: error.code, details: error.message };
  if (error instanceof WireError) return { code: status.INVALID_ARGUMENT, details: error.message };
  return { code: status.INTERNAL, details: 'internal error, see the log' };
}
