import { type ClientDuplexStream, credentials, makeClientConstructor } from '@grpc/grpc-js';
import { serviceDefinition } from '#grpc/service.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import { type Answer, readAnswer } from './answer.ts';
import type { Command, Report } from './fleet.ts';

/**
 * A process of its own, which plays many proxies of one group. Each has a connection of its own and
 * a delta stream, and ACKs all that it is sent. One that loses its stream connects again, as Envoy
 * does. All of them hold the same, so names and versions are kept once.
 */
const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';
const TYPES = [CLUSTER, LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST];
/** Proxies that connect at the same moment. The kernel's queue of new connections has an end. */
const AT_ONCE = 100;
/** See envoy/config/core/v3/grpc_service.proto, RetryPolicy: the first interval, in ms. */
const BACKOFF_MS = 500;

const [port = '', prefix = 'proxy'] = process.argv.slice(2);
const method = serviceDefinition(ADS).DeltaAggregatedResources;
if (method === undefined) throw new Error(`${ADS} has no delta stream`);
const Client = makeClientConstructor(
  { Delta: { ...method, responseDeserialize: (bytes: Buffer) => bytes } },
  ADS,
);

type Call = ClientDuplexStream<object, Buffer>;
type Proxy = { close(): void };

type Held = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Type URL to the versions that all hold. */
let held: Held = new Map();
let proxies: Proxy[] = [];
let awaited: Extract<Command, { readonly kind: 'await' }> | undefined;
let done = new Set<number>();
let bytes = 0;
let messages = 0;
let lost = 0;

process.on('message', async (command: Command) => {
  if (command.kind === 'await') {
    awaited = command;
    done = new Set();
    bytes = 0;
    messages = 0;
    lost = 0;
  }
  if (command.kind === 'close') {
    const closed = proxies;
    proxies = [];
    for (const proxy of closed) proxy.close();
  }
  if (command.kind === 'open') await open(command.count);
  tell({ kind: 'obeyed' });
});
tell({ kind: 'obeyed' });

async function open(count: number): Promise<void> {
  const from = held;
  for (let at = proxies.length; at < count; at++) {
    proxies.push(start(at, from));
    if (at % AT_ONCE === 0) await new Promise(setImmediate);
  }
}

function start(at: number, from: Held): Proxy {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': -1,
  });
  const call = (client as unknown as { Delta(): Call }).Delta();
  const proxy = {
    close: () => {
      call.cancel();
      client.close();
    },
  };
  let last = from;
  call.on('error', () => {
    const place = proxies.indexOf(proxy);
    if (place < 0) return;
    lost += 1;
    proxy.close();
    setTimeout(() => {
      if (proxies[place] === proxy) proxies[place] = start(at, last);
    }, Math.random() * BACKOFF_MS);
  });
  call.on('data', (message: Buffer) => {
    bytes += message.length;
    messages += 1;
    const answer = readAnswer(message, at === 0);
    if (at === 0) held = after(held, answer);
    last = held;
    call.write({ type_url: answer.typeUrl, response_nonce: answer.nonce });
    if (awaited?.typeUrls.includes(answer.typeUrl) && message.includes(awaited.text)) finish(at);
  });
  const node = { id: `${prefix}-${at}`, cluster: 'edge' };
  for (const type_url of TYPES)
    call.write({
      node,
      type_url,
      resource_names_subscribe: ['*'],
      initial_resource_versions: from.get(type_url) ?? {},
    });
  return proxy;
}

function after(before: Held, { typeUrl, resources, removed }: Answer): Held {
  const versions = new Map(Object.entries(before.get(typeUrl) ?? {}));
  for (const [name, version] of resources) versions.set(name, version);
  for (const name of removed) versions.delete(name);
  return new Map(before).set(typeUrl, Object.fromEntries(versions));
}

function finish(at: number): void {
  done.add(at);
  if (done.size === proxies.length) tell({ kind: 'done', bytes, messages, lost });
}

function tell(report: Report): void {
  process.send?.(report);
}
