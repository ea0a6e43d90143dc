/** The tests of protos/unary/serve-unary.test.ts, with HTTP/2 spoken by our own framing. */
process.env.TEST_TRANSPORT = 'own';
await import('../../unary/serve-unary.test.ts');
