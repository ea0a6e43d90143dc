/** The tests of grpc/unary/attack.test.ts, with HTTP/2 spoken by our own framing. */
process.env.TEST_TRANSPORT = 'own';
await import('#grpc/unary/attack.test.ts');
