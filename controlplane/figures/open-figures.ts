import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { ConfiguredGroups } from './configured-clusters.ts';
import { FigureStore } from './figure-store.ts';
import type { StreamParts } from './figure-stream.ts';
import type { Figures } from './figures.ts';
import { figuresServices } from './figures-service.ts';

export type FiguresParts = StreamParts & {
  /** Whether proxies push figures (FIGURES). */
  readonly on: boolean;
  now(): number;
  after(ms: number, callback: () => void): () => void;
};

export type OpenFigures = {
  readonly figures: Figures;
  /** The gRPC services that proxies push to. None when figures are off. */
  readonly services: Readonly<Record<string, UntypedServiceImplementation>>;
  /** Takes what a node group was compiled to. */
  compiled(group: string, compiled: Compiled): void;
};

/** Listeners are called at most once in this time, in ms. */
const FOLLOW_MS = 1_000;

/** Opens the figures of one control plane. */
export function openFigures(parts: FiguresParts): OpenFigures {
  const { on, now, after } = parts;
  const groups = new ConfiguredGroups();
  const listeners = new Set<() => void>();
  let isWaiting = false;
  const changed = () => {
    if (isWaiting || listeners.size === 0) return;
    isWaiting = true;
    after(FOLLOW_MS, () => {
      isWaiting = false;
      for (const listener of [...listeners]) listener();
    });
  };
  const store = new FigureStore({ clustersOf: group => groups.of(group), changed, now });
  return {
    figures: {
      on,
      traffic: of => store.traffic(of),
      mappings: () => store.mappings(),
      upstreams: () => store.upstreams(),
      requests: filter => store.requests(filter),
      sources: () => store.sources(),
      follow: listener => {
        const own = () => listener();
        listeners.add(own);
        return () => void listeners.delete(own);
      },
    },
    services: on ? figuresServices({ ...parts, store }) : {},
    compiled: (group, compiled) => {
      if (on) groups.compiled(group, compiled);
    },
  };
}
