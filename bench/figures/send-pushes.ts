import { type ClientWritableStream, credentials, makeClientConstructor } from '@grpc/grpc-js';
import { FIGURES_DEFINITIONS } from '#controlplane/figures/figures-service.ts';
import { pushOf, type SimulatedProxy } from './simulated-pushes.ts';

/** A process of its own, which plays many proxies. Each message of its parent starts one flush. */
const [port, text = '[]'] = process.argv.slice(2);
const METRICS = 'envoy.service.metrics.v3.MetricsService';
const Client = makeClientConstructor(FIGURES_DEFINITIONS[METRICS] ?? {}, METRICS);

const streams = (JSON.parse(text) as SimulatedProxy[]).map(proxy => {
  const options = { 'grpc.use_local_subchannel_pool': 1 };
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  const open = client as unknown as {
    StreamMetrics(end: () => void): ClientWritableStream<Buffer>;
  };
  return { call: open.StreamMetrics(() => {}), messages: pushOf(proxy) };
});

process.on('message', async () => {
  for (const { call, messages } of streams)
    for (const message of messages)
      await new Promise<void>(resolve => void call.write(message, () => resolve()));
  process.send?.('sent');
});
process.send?.({
  messages: streams.reduce((sum, { messages }) => sum + messages.length, 0),
  bytes: streams.reduce((sum, { messages }) => sum + Buffer.concat(messages).length, 0),
});
