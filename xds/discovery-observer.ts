import type { Snapshot } from './snapshot.ts';
import type { Standing } from './subscription.ts';

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
  /** The one type that a per-type service serves; undefined on an aggregated stream. */
  readonly typeUrl: string | undefined;
};

export type Nack = {
  readonly typeUrl: string;
  /** The snapshot that the proxy was on its way to when the refused response was made. */
  readonly target: Snapshot;
  /** Names of the resources in the refused response, removed ones too. */
  readonly names: readonly string[];
  /** The client's own words, cut to a length that can be logged. */
  readonly message: string;
};

/** What the control plane hears of its clients. Called synchronously; may set snapshots. */
export type DiscoveryObserver = {
  connected?(stream: StreamInfo): void;
  disconnected?(stream: StreamInfo): void;
  acked?(stream: StreamInfo, typeUrl: string, version: string): void;
  nacked?(stream: StreamInfo, nack: Nack): void;
  /** A mistake of ours has ended the stream. Undefined: before it was open. */
  failed?(stream: StreamInfo | undefined, error: unknown): void;
  /** The client has ACKed everything of this snapshot that it subscribes to. */
  settled?(stream: StreamInfo, snapshot: Snapshot): void;
};

/** What one stream has been sent and has said of one type. */
export type TypeStatus = {
  readonly sent: string | undefined;
  readonly acked: string | undefined;
  /** The last refusal, while no later response was ACKed. */
  readonly nack: { readonly version: string; readonly message: string } | undefined;
  /** When the client last ACKed or refused, in ms since the epoch. */
  readonly at: number | undefined;
};

export type StreamStatus = StreamInfo & {
  readonly types: Readonly<Record<string, TypeStatus>>;
  /** How the client stands to its group's newest snapshot. */
  readonly standing: Standing;
};
