/** What the edited Mapping says this time. */
export type Edit = {
  /** Port of its service on the loopback interface. */
  readonly servicePort: number;
  readonly hostRewrite: string;
};

/** Path of the edited Mapping. */
export const EDITED = '/edited/';

/** No upstream listens there, because the other Mappings get no requests. */
const FIRST_UNUSED_PORT = 40_000;

/**
 * Returns one file with `count` Mappings, the edited one in the middle. The others lead to so many
 * services. By default each has one of its own.
 */
export function mappingsFile(count: number, edit: Edit, services = count): string {
  const documents = Array.from({ length: count }, (_, at) =>
    at === Math.floor(count / 2) ? editedMapping(edit) : otherMapping(at, at % services),
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

/** Each service has another address, 127.2.0.1 and up, because ports alone would be too few. */
function otherMapping(at: number, service: number): string {
  const block = Math.floor(service / 200);
  const address = `127.${2 + Math.floor(block / 200)}.${block % 200}.${1 + (service % 200)}`;
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
