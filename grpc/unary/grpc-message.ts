/** What `grpc-message` may hold as it is: printable ASCII but for the percent sign. */
const TO_ENCODE = /[^ -$&-~]+/g;

/**
 * A text as the header `grpc-message` carries it: percent-encoded UTF-8. Source: gRPC over HTTP2,
 * "Status-Message".
 */
export function encodeGrpcMessage(text: string): string {
  return text.replaceAll(TO_ENCODE, part => {
    return Buffer.from(part).toString('hex').toUpperCase().replaceAll(/../g, '%$&');
  });
}
