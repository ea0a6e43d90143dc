/** The tests of grpc/unary/limits.test.ts, with HTTP/2 spoken by our own framing. */
import { withFramedTransport } from '#grpc/unary/testing/transport.ts';

await withFramedTransport(import.meta.resolve('#grpc/unary/limits.test.ts'));
