import { isDeepStrictEqual } from 'node:util';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import type { Purpose } from '#certificates/check-leaf.ts';
import { errorsOf } from '#certificates/finding.ts';
import type { XdsResource } from '#xds/snapshot.ts';
import { type ContentSources, followContent } from './follow-content.ts';
import {
  type CertificateFacts,
  checkContent,
  factsOf,
  type SecretContent,
  secretResource,
} from './secret-content.ts';
import type { ServedContent, ServedSecret } from './served-secret.ts';

/**
 * What is wrong with the secret of this name. `reported` means that the control plane reports it
 * too.
 */
export type RejectedSecret = {
  readonly secret: string;
  readonly reason: string;
  readonly reported: boolean;
};

export type SlotOptions = ContentSources & {
  readonly versionKey: Uint8Array;
  /** The resource of the slot has changed. */
  onChange(): void;
  /** The new content cannot be sent, and the earlier one stays. Called once for each reason. */
  onRejected(rejected: RejectedSecret): void;
  /**
   * What was sent is no longer valid, and stays until something else comes. Called once for each
   * reason.
   */
  onOver(over: RejectedSecret): void;
  /** Returns since when a proxy of one of these groups is connected, in ms since the epoch. */
  connectedSince(groups: readonly string[]): number | undefined;
  /** The findings of the slot, or of what it sends, may have changed. */
  onFindings(): void;
};

/**
 * Rejected content may become valid later, and sent content may expire. So it is checked again
 * after this time, in ms.
 */
const AGAIN_MS = 60_000;

/** One served secret: its definition, and its last content that may be sent. */
export class SecretSlot {
  readonly #options: SlotOptions;
  #served: ServedSecret;
  #resource: XdsResource | undefined;
  #facts: CertificateFacts | undefined;
  #problem: string | undefined;
  #warnings: readonly string[] = [];
  #notes: readonly string[] = [];
  #proof: XdsResource | undefined;
  /** The content that is sent, and the one that came last. */
  #sent: SecretContent | undefined;
  #end: () => void = () => {};
  #stopLooking: () => void = () => {};

  constructor(served: ServedSecret, options: SlotOptions) {
    this.#options = options;
    this.#served = served;
    this.#follow();
  }

  /**
   * Takes another definition of the same name. What is sent stays until the new content has come
   * and may be sent.
   */
  replace(served: ServedSecret): void {
    const sameContent = JSON.stringify(served.content) === JSON.stringify(this.#served.content);
    this.#served = served;
    if (!sameContent) this.#follow();
  }

  get served(): ServedSecret {
    return this.#served;
  }

  get resource(): XdsResource | undefined {
    return this.#resource;
  }

  /** All that is sent. */
  get resources(): readonly XdsResource[] {
    return [this.#resource, this.#proof].filter(each => each !== undefined);
  }

  get facts(): CertificateFacts | undefined {
    return this.#facts;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** Warnings about what is sent, and about what is to come. */
  get warnings(): readonly string[] {
    return [...this.#warnings, ...this.#notes];
  }

  /** The problem concerns what is sent, which was valid when it came. */
  get isOver(): boolean {
    return this.#problem !== undefined && this.#sent !== undefined;
  }

  close(): void {
    this.#stopLooking();
    this.#end();
  }

  #follow(): void {
    this.close();
    this.#note([]);
    this.#proof = undefined;
    const { content } = this.#served;
    if (content.kind === 'key pair' || content.kind === 'trusted ca') {
      this.#end = () => {};
      this.#take(content);
      return;
    }
    if (content.kind === 'acme') this.#problem = undefined;
    this.#end = followContent(content, this.#options, {
      onContent: next => this.#take(next),
      servedSince: () => this.#options.connectedSince(this.#served.groups),
      onNotes: notes => this.#note(notes),
      onProof: pair => this.#prove(challengeName(content), pair),
      onTrouble: reason => {
        this.#stopLooking();
        this.#sent = undefined;
        this.#refuse(reason);
      },
    });
  }

  #take(next: SecretContent): void {
    this.#stopLooking();
    const { clock, versionKey, onChange, onFindings } = this.#options;
    const findings = checkContent(next, clock.now(), purposeOf(this.#served));
    const wrong = errorsOf(findings);
    if (wrong !== undefined || this.#served.named !== undefined)
      this.#stopLooking = clock.after(AGAIN_MS, () => this.#take(next));
    if (!isDeepStrictEqual(next, this.#sent)) this.#sent = undefined;
    if (wrong !== undefined) {
      this.#refuse(wrong);
      return;
    }
    this.#problem = undefined;
    this.#warnings = findings.map(({ message }) => message);
    this.#sent = next;
    this.#facts = factsOf(next);
    onFindings();
    const resource = secretResource(this.#served.name, next, versionKey);
    if (resource.version === this.#resource?.version) return;
    this.#resource = resource;
    onChange();
  }

  #note(notes: readonly string[]): void {
    if (isDeepStrictEqual(notes, this.#notes)) return;
    this.#notes = notes;
    this.#options.onFindings();
  }

  #prove(name: string, pair: KeyPair | undefined): void {
    const { onChange, versionKey } = this.#options;
    this.#proof = pair && secretResource(name, { kind: 'key pair', ...pair }, versionKey);
    onChange();
  }

  #refuse(reason: string): void {
    if (reason === this.#problem) return;
    this.#problem = reason;
    const { name, named } = this.#served;
    const rejected = { secret: name, reason, reported: named !== undefined };
    if (this.isOver) this.#options.onOver(rejected);
    else this.#options.onRejected(rejected);
    this.#options.onFindings();
  }
}

/** The name that the edge asks for, `challengeName` of the control plane. */
function challengeName(content: ServedContent): string {
  return content.kind === 'acme' ? `gateway/acme-challenge/${content.settings.hostname}` : '';
}

/**
 * A Host shows its certificate to clients. The certificate of a TLSContext may be for services,
 * too.
 */
function purposeOf({ named }: ServedSecret): Purpose | undefined {
  return named?.resource.startsWith('Host/') ? 'server' : undefined;
}
