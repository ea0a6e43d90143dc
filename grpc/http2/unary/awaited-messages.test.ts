/** The tests of grpc/unary/awaited-messages.test.ts, with HTTP/2 spoken by our own framing. */
process.env.TEST_TRANSPORT = 'own';
await import('#grpc/unary/awaited-messages.test.ts');
