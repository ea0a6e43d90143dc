/**
 * A service of several workers that answers with who it is. It has `/who`, `/late?ms=` (so long
 * after the header with its pid), `/count` (counts), `/share` (what all workers share), and probes.
 */
import type { Socket } from 'node:net';
import express from 'express';
import { Counter, Registry } from 'prom-client';
import { listen } from '#grpc/listen.ts';
import { readDecisionConfig } from '../decision-config.ts';
import { probes } from '../probes.ts';
import { runWorkers, type WorkParts } from '../run-workers.ts';
import { groupProbes } from '../worker.ts';

await runWorkers({
  name: 'sample',
  readConfig: () => readDecisionConfig(process.env, { address: '127.0.0.1:0', workers: 3 }),
  share: () => {
    let told = 0;
    return calls => {
      calls.answer('next', () => {
        told += 1;
        return told;
      });
      return () => {};
    };
  },
  work,
});

async function work({
  config,
  exit,
  log,
  worker,
}: WorkParts<{ address: { host: string; port: number } }>) {
  const registry = new Registry();
  const counted = new Counter({ name: 'counted_total', help: 'Counted', registers: [registry] });
  const app = express();
  const who = () => ({ number: worker?.number, pid: process.pid, late: worker?.late });
  app.get('/who', (_request, response) => void response.json(who()));
  app.get('/late', (request, response) => {
    response.set('x-pid', String(process.pid)).flushHeaders();
    setTimeout(() => response.end('late'), Number(request.query.ms));
  });
  app.get('/count', (_request, response) => {
    counted.inc();
    response.json(who());
  });
  app.get(
    '/share',
    async (_request, response) => void response.json(await worker?.calls.ask('next')),
  );
  const own = groupProbes({ notReady: () => undefined, registry }, worker);
  const onError = (err: unknown) => log.error({ err }, 'a request failed');
  const { host, port } = config.address;
  const protocols = {
    http2: (socket: Socket) => void socket.destroy(),
    http1: probes({ ...own, onError }, app),
  };
  const listening = await listen({ host, port, protocols, source: worker?.port('sample') }).catch(
    (error: Error) => exit(`ADDRESS: ${error.message}`),
  );
  const at = { address: listening.address, port: listening.port };
  log.info(at, 'listening');
  const stop = async () => {
    await worker?.leavePorts();
    await listening.close();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.send?.({ listening: true, ...at });
  process.send?.({ ready: true });
}
