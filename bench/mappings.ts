/** What the Mapping that is edited says this time. */
export type Edit = {
  /** Port of its service on the loopback interface. */
  readonly servicePort: number;
  readonly hostRewrite: string;
};

/** Path of the edited Mapping. */
export const EDITED = '/edited/';

/** No upstream listens there: the other Mappings are only carried along. */
const FIRST_UNUSED_PORT = 40_000;

/** One file with `count` Mappings of one service each; the edited one stands in the middle. */
export function mappingsFile(count: number, edit: Edit): string {
  const documents = Array.from({ length: count }, (_, at) =>
    at === Math.floor(count / 2) ? editedMapping(edit) : otherMapping(at),
  );
  return documents.join('---\n');
}

function editedMapping({ servicePort, hostRewrite }: Edit): string {
  return mapping('edited', [
    `prefix: ${EDITED}`,
    `service: 127.0.0.1:${servicePort}`,
    `host_rewrite: ${hostRewrite}`,
  ]);
}

/** Each service is another: 127.0.0.2 and up, as a port alone would not give enough of them. */
function otherMapping(at: number): string {
  const address = `127.0.${2 + Math.floor(at / 200)}.${1 + (at % 200)}`;
  return mapping(`m${at}`, [
    `host: shop-${at % 20}.example.com`,
    `prefix: /m${at}/`,
    `service: ${address}:${FIRST_UNUSED_PORT}`,
    'timeout_ms: 5000',
  ]);
}

function mapping(name: string, fields: readonly string[]): string {
  return `apiVersion: gateway.internal/v2
kind: Mapping
metadata:
  name: ${name}
spec:
${fields.map(field => `  ${field}\n`).join('')}`;
}
