/** The tests of protos/unary/fuzz.test.ts, with HTTP/2 spoken by our own framing. */
process.env.TEST_TRANSPORT = 'own';
await import('../../unary/fuzz.test.ts');
