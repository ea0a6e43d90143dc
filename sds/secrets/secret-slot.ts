import { isDeepStrictEqual } from 'node:util';
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
import type { ServedSecret } from './served-secret.ts';

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

  get facts(): CertificateFacts | undefined {
    return this.#facts;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** Warnings about what is sent. */
  get warnings(): readonly string[] {
    return this.#warnings;
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
    const { content } = this.#served;
    if (content.kind === 'key pair' || content.kind === 'trusted ca') {
      this.#end = () => {};
      this.#take(content);
      return;
    }
    this.#end = followContent(content, this.#options, {
      onContent: next => this.#take(next),
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

/**
 * A Host shows its certificate to clients. The certificate of a TLSContext may be for services,
 * too.
 */
function purposeOf({ named }: ServedSecret): Purpose | undefined {
  return named?.resource.startsWith('Host/') ? 'server' : undefined;
}
