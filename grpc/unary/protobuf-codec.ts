import type { Message } from '#protos/decode-bytes.ts';
import { decodeBytes } from '#protos/decode-bytes.ts';
import { messageType } from '#protos/root.ts';

/**
 * Returns `decode` and `encode` of a method by protobufjs, for rare calls. The types are named in
 * full.
 */
export function protobufCodec(request: string, response: string) {
  const [requestType, responseType] = [messageType(request), messageType(response)];
  return {
    decode: (bytes: Buffer): Message | undefined => {
      try {
        return decodeBytes(requestType, bytes) as Message;
      } catch {
        return undefined;
      }
    },
    encode: (message: object): Uint8Array => responseType.encode(message).finish(),
  };
}
