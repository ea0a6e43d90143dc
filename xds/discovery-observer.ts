import type { Snapshot } from './snapshot.ts';
import type { AckState } from './subscription.ts';

/** One stream of a client. */
export type StreamInfo = {
  /** Counts up from 1 in this process. */
  readonly id: number;
  /** `node.id` and the group that the node belongs to. */
  readonly node: string;
  readonly group: string;
  /** Address of the client, `host:port`. */
  readonly address: string;
  readonly variant: 'delta' | 'state of the world';
  /** The one type that a per-type service serves. Undefined on an aggregated stream. */
  readonly typeUrl: string | undefined;
};

export type Nack = {
  readonly typeUrl: string;
  /** The snapshot that the proxy was moving to when the rejected response was made. */
  readonly target: Snapshot;
  /** Names of the resources in the rejected response, removed ones too. */
  readonly names: readonly string[];
  /** The client's message, cut to a length that can be logged. */
  readonly message: string;
};

/**
 * What the control plane hears about its clients. The calls are synchronous and may set snapshots.
 */
export type DiscoveryObserver = {
  connected?(stream: StreamInfo): void;
  disconnected?(stream: StreamInfo): void;
  acked?(stream: StreamInfo, typeUrl: string, version: string): void;
  nacked?(stream: StreamInfo, nack: Nack): void;
  /** An internal error has ended the stream. `stream` is undefined before it was open. */
  failed?(stream: StreamInfo | undefined, error: unknown): void;
  /** The client has ACKed everything of this snapshot that it subscribes to. */
  settled?(stream: StreamInfo, snapshot: Snapshot): void;
};

/** What one stream was sent of one type, and how it answered. */
export type TypeStatus = {
  readonly sent: string | undefined;
  readonly acked: string | undefined;
  /** The last NACK, while no later response was ACKed. */
  readonly nack: { readonly version: string; readonly message: string } | undefined;
  /** When the client last sent an ACK or a NACK, in ms since the epoch. */
  readonly at: number | undefined;
};

export type StreamStatus = StreamInfo & {
  readonly types: Readonly<Record<string, TypeStatus>>;
  /** Whether the client has ACKed its group's newest snapshot. */
  readonly standing: AckState;
};
