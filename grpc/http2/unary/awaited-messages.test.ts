/** The tests of grpc/unary/awaited-messages.test.ts, with HTTP/2 spoken by our own framing. */
import { withFramedTransport } from '#grpc/unary/testing/transport.ts';

await withFramedTransport(import.meta.resolve('#grpc/unary/awaited-messages.test.ts'));
