/** The tests of grpc/unary/limits.test.ts, with HTTP/2 spoken by our own framing. */
import { withOwnTransport } from '#grpc/unary/testing/transport.ts';

await withOwnTransport(import.meta.resolve('#grpc/unary/limits.test.ts'));
