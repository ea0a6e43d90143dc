import { type ClientDuplexStream, credentials, makeClientConstructor } from '@grpc/grpc-js';
import { serviceDefinition } from '#grpc/service.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import { type Answer, readAnswer } from './answer.ts';
import type { Command, Report } from './fleet.ts';

/**
 * A process of its own, which plays many proxies of one group. Each has a connection of its own and
 * a delta stream, and ACKs all that it is sent. All of them hold the same, so names and versions
 * are kept once.
 */
const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';
const TYPES = [CLUSTER, LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST];
/** Proxies that connect at the same moment. The kernel's queue of new connections has an end. */
const AT_ONCE = 100;

const [port = '', prefix = 'proxy'] = process.argv.slice(2);
const method = serviceDefinition(ADS).DeltaAggregatedResources;
if (method === undefined) throw new Error(`${ADS} has no delta stream`);
const Client = makeClientConstructor(
  { Delta: { ...method, responseDeserialize: (bytes: Buffer) => bytes } },
  ADS,
);

type Call = ClientDuplexStream<object, Buffer>;
type Proxy = { close(): void };

/** Type URL to the versions that all hold. */
const held = new Map(TYPES.map(type => [type, new Map<string, string>()]));
let proxies: Proxy[] = [];
let awaited: Extract<Command, { readonly kind: 'await' }> | undefined;
let done = new Set<number>();
let bytes = 0;
let messages = 0;

process.on('message', async (command: Command) => {
  if (command.kind === 'await') {
    awaited = command;
    done = new Set();
    bytes = 0;
    messages = 0;
  }
  if (command.kind === 'close') {
    for (const proxy of proxies) proxy.close();
    proxies = [];
  }
  if (command.kind === 'open') await open(command.count);
  tell({ kind: 'obeyed' });
});
tell({ kind: 'obeyed' });

async function open(count: number): Promise<void> {
  for (let at = proxies.length; at < count; at++) {
    proxies.push(start(at));
    if (at % AT_ONCE === 0) await new Promise(setImmediate);
  }
}

function start(at: number): Proxy {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': -1,
  });
  const call = (client as unknown as { Delta(): Call }).Delta();
  call.on('error', () => {});
  call.on('data', (message: Buffer) => {
    bytes += message.length;
    messages += 1;
    const answer = readAnswer(message, at === 0);
    if (at === 0) hold(answer);
    call.write({ type_url: answer.typeUrl, response_nonce: answer.nonce });
    if (awaited?.typeUrls.includes(answer.typeUrl) && message.includes(awaited.text)) finish(at);
  });
  const node = { id: `${prefix}-${at}`, cluster: 'edge' };
  for (const type_url of TYPES)
    call.write({
      node,
      type_url,
      resource_names_subscribe: ['*'],
      initial_resource_versions: Object.fromEntries(held.get(type_url) ?? []),
    });
  return {
    close: () => {
      call.cancel();
      client.close();
    },
  };
}

function hold({ typeUrl, resources, removed }: Answer): void {
  const versions = held.get(typeUrl);
  for (const [name, version] of resources) versions?.set(name, version);
  for (const name of removed) versions?.delete(name);
}

function finish(at: number): void {
  done.add(at);
  if (done.size === proxies.length) tell({ kind: 'done', bytes, messages });
}

function tell(report: Report): void {
  process.send?.(report);
}
