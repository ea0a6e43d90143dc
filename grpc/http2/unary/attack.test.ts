/** The tests of grpc/unary/attack.test.ts, with HTTP/2 spoken by our own framing. */
import { withFramedTransport } from '#grpc/unary/testing/transport.ts';

await withFramedTransport(import.meta.resolve('#grpc/unary/attack.test.ts'));
