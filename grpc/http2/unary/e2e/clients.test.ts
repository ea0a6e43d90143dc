/** The tests of grpc/unary/e2e/clients.test.ts, with HTTP/2 spoken by our own framing. */
import { withFramedTransport } from '#grpc/unary/testing/transport.ts';

await withFramedTransport(import.meta.resolve('#grpc/unary/e2e/clients.test.ts'));
