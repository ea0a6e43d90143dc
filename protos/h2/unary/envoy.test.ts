/** The tests of protos/unary/envoy.test.ts, with HTTP/2 spoken by our own framing. */
process.env.TEST_TRANSPORT = 'own';
await import('../../unary/envoy.test.ts');
