import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { ConfiguredGroups } from './configured-clusters.ts';
import { coverageOf } from './coverage.ts';
import { FigureStore, isSetBack } from './figure-store.ts';
import type { StreamParts } from './figure-stream.ts';
import type { FigureSource, Figures } from './figures.ts';
import { figuresServices } from './figures-service.ts';
import { GROW_MS, nextSampling } from './sampling.ts';
import { samplingService } from './sampling-service.ts';

export type FiguresParts = StreamParts & {
  /** Whether proxies push figures (FIGURES). */
  readonly on: boolean;
  /** Returns the proxies that get their configuration here. */
  connected(): readonly Pick<FigureSource, 'node' | 'group'>[];
  /** Whether other control planes serve the same resources. */
  readonly replicated: boolean;
  now(): number;
  after(ms: number, callback: () => void): () => void;
};

export type OpenFigures = {
  readonly figures: Figures;
  /**
   * The gRPC services that proxies push to. When figures are off they learn the sampling alone,
   * since a proxy whose bootstrap still has figures would ask for it again and again.
   */
  readonly services: Readonly<Record<string, UntypedServiceImplementation>>;
  /** Takes what a node group was compiled to. */
  compiled(group: string, compiled: Compiled): void;
  /** Ends the streams on which proxies learn the sampling. */
  close(): void;
};

/** The rates are looked at once in this time, in ms. */
const RESAMPLE_MS = 1_000;
/** Listeners are called at most once in this time, in ms. */
const FOLLOW_MS = 1_000;

/** Opens the figures of one control plane. */
export function openFigures(parts: FiguresParts): OpenFigures {
  const { on, now, after } = parts;
  const groups = new ConfiguredGroups();
  const listeners = new Set<() => void>();
  let isWaiting = false;
  let resampled = 0;
  let changedAt = now();
  const changed = () => {
    resample();
    if (isWaiting || listeners.size === 0) return;
    isWaiting = true;
    after(FOLLOW_MS, () => {
      isWaiting = false;
      for (const listener of [...listeners]) listener();
    });
  };
  const store = new FigureStore({ clustersOf: group => groups.of(group), changed, now });
  const proxies = samplingService({
    refuse: (_group, peer, { id, cluster }) => parts.refuse({ id, group: cluster }, peer),
    now,
    after,
  });
  const hasPassed = (ms: number, since: number) => now() - since >= ms || isSetBack(since, now());
  const resample = () => {
    if (!hasPassed(RESAMPLE_MS, resampled)) return;
    resampled = now();
    const { failed, sampled } = store.sampling;
    const next = nextSampling(store.rates(), store.sampling, hasPassed(GROW_MS, changedAt));
    if (next.failed === failed && next.sampled === sampled) return;
    changedAt = now();
    store.sampling = next;
    proxies.set(next);
  };
  proxies.set(store.sampling);
  return {
    figures: {
      on,
      traffic: of => store.traffic(of),
      mappings: () => store.mappings(),
      upstreams: () => store.upstreams(),
      requests: filter => store.requests(filter),
      sources: () => store.sources(),
      coverage: () =>
        on ? coverageOf(store.sources(), parts.connected(), parts.replicated) : undefined,
      follow: listener => {
        const own = () => listener();
        listeners.add(own);
        return () => void listeners.delete(own);
      },
    },
    services: on
      ? { ...figuresServices({ ...parts, store }), ...proxies.services }
      : proxies.services,
    compiled: (group, compiled) => {
      if (on) groups.compiled(group, compiled);
    },
    close: () => proxies.close(),
  };
}
