/** The tests of protos/unary/attack.test.ts, with HTTP/2 spoken by our own framing. */
process.env.TEST_TRANSPORT = 'own';
await import('../../unary/attack.test.ts');
