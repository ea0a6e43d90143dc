/** Who speaks HTTP/2 in the tests: Node's library, or ours where a test says so before it loads them (protos/h2/unary/). */
export const TRANSPORT: 'node' | 'own' = process.env.TEST_TRANSPORT === 'own' ? 'own' : 'node';
