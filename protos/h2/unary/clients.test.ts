/** The tests of protos/unary/clients.test.ts, with HTTP/2 spoken by our own framing. */
process.env.TEST_TRANSPORT = 'own';
await import('../../unary/clients.test.ts');
