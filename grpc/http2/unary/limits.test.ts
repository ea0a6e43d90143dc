/** The tests of grpc/unary/limits.test.ts, with HTTP/2 spoken by our own framing. */
process.env.TEST_TRANSPORT = 'own';
await import('#grpc/unary/limits.test.ts');
