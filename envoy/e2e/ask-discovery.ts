import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, credentials, type StatusObject } from '@grpc/grpc-js';
import { serviceDefinition } from '#grpc/service.ts';
import { SECRET } from '#protos/type-url.ts';

/**
 * A client of a discovery server. It has the identity in a folder and says that it is of `group`.
 */
export type Asking = {
  readonly address: string;
  readonly folder: string;
  readonly group: string;
  readonly typeUrl: string;
  readonly names: readonly string[];
};

/**
 * The result for each of the questions in its one argument (JSON): the names of the resources of
 * the first answer, or gRPC's status.
 */
export type Told = {
  readonly names?: readonly string[];
  readonly code?: number;
  readonly details?: string;
};

/** The methods that Envoys use. Secrets have a service of their own. */
const ADS = [
  'envoy.service.discovery.v3.AggregatedDiscoveryService',
  'DeltaAggregatedResources',
] as const;
const SDS = ['envoy.service.secret.v3.SecretDiscoveryService', 'DeltaSecrets'] as const;
const PATIENCE_MS = 30_000;

type Response = { readonly resources: readonly { readonly name: string }[] };

function ask({ address, folder, group, typeUrl, names }: Asking): Promise<Told> {
  const read = (file: string) => readFileSync(join(folder, file));
  const ssl = credentials.createSsl(read('ca.crt'), read('tls.key'), read('tls.crt'), {
    checkServerIdentity: () => undefined,
  });
  const client = new Client(address, ssl, { 'grpc.ssl_target_name_override': 'server' });
  const [service, name] = typeUrl === SECRET ? SDS : ADS;
  const method = serviceDefinition(service)[name];
  if (method === undefined) throw new Error(`${service} has no ${name}`);
  const { path, requestSerialize, responseDeserialize } = method;
  const deadline = Date.now() + PATIENCE_MS;
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, {
    deadline,
  });
  return new Promise(resolve => {
    call.on('data', (response: Response) =>
      resolve({ names: response.resources.map(({ name }) => name) }),
    );
    call.on('status', ({ code, details }: StatusObject) => resolve({ code, details }));
    call.on('error', () => {}); // the status tells
    call.write({
      node: { id: 'stranger', cluster: group },
      type_url: typeUrl,
      resource_names_subscribe: names,
    });
  });
}

const questions = JSON.parse(process.argv[2] ?? '[]') as readonly Asking[];
process.stdout.write(JSON.stringify(await Promise.all(questions.map(ask))));
process.exit(0);
