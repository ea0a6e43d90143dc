/**
 * Characters that `grpc-message` cannot hold as they are: all but printable ASCII, and the percent
 * sign.
 */
const TO_ENCODE = /[^ -$&-~]+/g;

/**
 * Encodes a text for the header `grpc-message`, as percent-encoded UTF-8. Source: gRPC over HTTP2,
 * "Status-Message".
 */
export function encodeGrpcMessage(text: string): string {
  return text.replaceAll(TO_ENCODE, part => {
    return Buffer.from(part).toString('hex').toUpperCase().replaceAll(/../g, '%$&');
  });
}
